func.func @main() -> (tensor<2x3xui8>) {
  %0 = stablehlo.iota dim = 1 : tensor<2x3xui8>
  return %0 : tensor<2x3xui8>
}
