func.func @main() -> (tensor<0x3xf32>) {
  %0 = stablehlo.constant dense<> : tensor<0x3xf32>
  return %0 : tensor<0x3xf32>
}
