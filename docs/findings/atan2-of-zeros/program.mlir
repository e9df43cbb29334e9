func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.atan2 %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32>
}
