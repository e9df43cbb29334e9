func.func @main(%a: tensor<2xi4>) -> tensor<2xi32> {
  %0 = stablehlo.convert %a : (tensor<2xi4>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}
