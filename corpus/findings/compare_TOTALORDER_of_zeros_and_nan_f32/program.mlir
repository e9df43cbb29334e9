func.func @main(%a: tensor<3xf32>, %b: tensor<3xf32>) -> (tensor<3xi1>) {
  %0 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  return %0 : tensor<3xi1>
}
