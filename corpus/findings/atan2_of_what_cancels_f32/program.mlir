func.func @main(%a: tensor<3xi32>) -> (tensor<3xf32>) {
  %n = stablehlo.not %a : tensor<3xi32>
  %b = stablehlo.and %a, %n : tensor<3xi32>
  %c = stablehlo.convert %b : (tensor<3xi32>) -> tensor<3xf32>
  %0 = stablehlo.atan2 %c, %c : tensor<3xf32>
  return %0 : tensor<3xf32>
}
