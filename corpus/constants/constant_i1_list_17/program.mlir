func.func @main() -> (tensor<17xi1>) {
  %0 = stablehlo.constant dense<[true, false, true, true, false, true, true, true, false, false, false, true, false, true, true, true, true]> : tensor<17xi1>
  return %0 : tensor<17xi1>
}
