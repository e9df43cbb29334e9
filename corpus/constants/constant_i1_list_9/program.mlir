func.func @main() -> (tensor<9xi1>) {
  %0 = stablehlo.constant dense<[true, false, true, true, false, true, true, true, false]> : tensor<9xi1>
  return %0 : tensor<9xi1>
}
