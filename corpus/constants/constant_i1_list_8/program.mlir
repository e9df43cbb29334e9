func.func @main() -> (tensor<8xi1>) {
  %0 = stablehlo.constant dense<[true, false, true, true, false, true, true, true]> : tensor<8xi1>
  return %0 : tensor<8xi1>
}
