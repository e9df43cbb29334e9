func.func @main(%a: tensor<4xui32>, %b: tensor<4xui32>) -> (tensor<4xi1>) {
  %0 = stablehlo.compare LT, %a, %b, UNSIGNED : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}
