func.func @main() -> tensor<f32> {
  %a = stablehlo.constant dense<0x7FC00000> : tensor<f32>
  %b = stablehlo.constant dense<3.0> : tensor<f32>
  %0 = stablehlo.minimum %a, %b : tensor<f32>
  return %0 : tensor<f32>
}
