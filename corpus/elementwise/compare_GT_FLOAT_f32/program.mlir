func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xi1>) {
  %0 = stablehlo.compare GT, %a, %b, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}
