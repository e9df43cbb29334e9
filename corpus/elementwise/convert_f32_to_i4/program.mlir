func.func @main(%a: tensor<4xf32>) -> (tensor<4xi4>) {
  %0 = stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xi4>
  return %0 : tensor<4xi4>
}
