func.func @main() -> (tensor<3xbf16>) {
  %0 = stablehlo.constant dense<[1.0, 2.0, 0.5]> : tensor<3xbf16>
  return %0 : tensor<3xbf16>
}
