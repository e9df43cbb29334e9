func.func @main(%a: tensor<4xi32>) -> (tensor<4xi1>) {
  %b = stablehlo.constant dense<0> : tensor<4xi32>
  %0 = stablehlo.multiply %a, %a : tensor<4xi32>
  %1 = stablehlo.compare LT, %0, %b : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  return %1 : tensor<4xi1>
}
