func.func @main() -> (tensor<20xi1>) {
  %0 = stablehlo.constant dense<false> : tensor<20xi1>
  return %0 : tensor<20xi1>
}
