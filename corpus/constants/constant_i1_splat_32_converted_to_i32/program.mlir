func.func @main() -> (tensor<32xi32>) {
  %c = stablehlo.constant dense<true> : tensor<32xi1>
  %0 = stablehlo.convert %c : (tensor<32xi1>) -> tensor<32xi32>
  return %0 : tensor<32xi32>
}
