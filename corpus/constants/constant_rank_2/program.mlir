func.func @main() -> (tensor<2x3xi16>) {
  %0 = stablehlo.constant dense<[[1, 2, 3], [4, 5, -6]]> : tensor<2x3xi16>
  return %0 : tensor<2x3xi16>
}
