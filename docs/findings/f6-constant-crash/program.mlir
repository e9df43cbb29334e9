func.func @main() -> tensor<2xf6E2M3FN> {
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf6E2M3FN>
  return %0 : tensor<2xf6E2M3FN>
}
