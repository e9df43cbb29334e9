func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>) {
  %b = stablehlo.constant dense<12582912.0> : tensor<4xf32>
  %0 = stablehlo.add %a, %b : tensor<4xf32>
  %1 = stablehlo.subtract %0, %b : tensor<4xf32>
  return %1 : tensor<4xf32>
}
