func.func @main() -> (tensor<32xi1>) {
  %0 = stablehlo.constant dense<true> : tensor<32xi1>
  return %0 : tensor<32xi1>
}
