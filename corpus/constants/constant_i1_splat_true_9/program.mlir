func.func @main() -> (tensor<9xi1>) {
  %0 = stablehlo.constant dense<true> : tensor<9xi1>
  return %0 : tensor<9xi1>
}
