func.func @main(%a: tensor<4xi1>) -> (tensor<4xi32>) {
  %0 = stablehlo.convert %a : (tensor<4xi1>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
