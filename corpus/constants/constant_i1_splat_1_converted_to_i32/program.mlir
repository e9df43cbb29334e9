func.func @main() -> (tensor<1xi32>) {
  %c = stablehlo.constant dense<true> : tensor<1xi1>
  %0 = stablehlo.convert %c : (tensor<1xi1>) -> tensor<1xi32>
  return %0 : tensor<1xi32>
}
