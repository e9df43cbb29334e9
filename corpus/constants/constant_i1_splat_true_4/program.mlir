func.func @main() -> (tensor<4xi1>) {
  %0 = stablehlo.constant dense<true> : tensor<4xi1>
  return %0 : tensor<4xi1>
}
