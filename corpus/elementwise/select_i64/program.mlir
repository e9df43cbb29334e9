func.func @main(%p: tensor<4xi1>, %a: tensor<4xi64>, %b: tensor<4xi64>) -> (tensor<4xi64>) {
  %0 = stablehlo.select %p, %a, %b : tensor<4xi1>, tensor<4xi64>
  return %0 : tensor<4xi64>
}
