func.func @main() -> (tensor<12xi32>) {
  %c = stablehlo.constant dense<true> : tensor<12xi1>
  %0 = stablehlo.convert %c : (tensor<12xi1>) -> tensor<12xi32>
  return %0 : tensor<12xi32>
}
