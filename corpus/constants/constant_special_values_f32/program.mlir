func.func @main() -> (tensor<4xf32>) {
  %0 = stablehlo.constant dense<[0x7F800000, 0xFF800000, 0x7FC00000, -0.0]> : tensor<4xf32>
  return %0 : tensor<4xf32>
}
