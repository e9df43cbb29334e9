func.func @main() -> (tensor<1xi1>) {
  %0 = stablehlo.constant dense<true> : tensor<1xi1>
  return %0 : tensor<1xi1>
}
