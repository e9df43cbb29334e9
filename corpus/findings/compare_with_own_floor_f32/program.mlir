func.func @main(%a: tensor<4xf32>) -> (tensor<4xi1>) {
  %0 = stablehlo.floor %a : tensor<4xf32>
  %1 = stablehlo.compare EQ, %a, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %1 : tensor<4xi1>
}
