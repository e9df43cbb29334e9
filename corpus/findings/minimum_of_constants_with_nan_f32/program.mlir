func.func @main() -> (tensor<4xf32>) {
  %a = stablehlo.constant dense<0x7FC00000> : tensor<4xf32>
  %b = stablehlo.constant dense<[3.0, 1.0, 2.0, 5.0]> : tensor<4xf32>
  %0 = stablehlo.minimum %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32>
}
