func.func @main() -> (tensor<4xbf16>) {
  %0 = stablehlo.constant dense<[0x7F80, 0xFF80, 0x7FC0, -0.0]> : tensor<4xbf16>
  return %0 : tensor<4xbf16>
}
