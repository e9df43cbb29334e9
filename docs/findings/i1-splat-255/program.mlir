func.func @main() -> tensor<32xi32> {
  %a = stablehlo.constant dense<true> : tensor<32xi1>
  %0 = stablehlo.convert %a : (tensor<32xi1>) -> tensor<32xi32>
  return %0 : tensor<32xi32>
}
