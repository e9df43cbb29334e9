func.func @main() -> (tensor<3xi2>) {
  %0 = stablehlo.constant dense<[1, 0, 1]> : tensor<3xi2>
  return %0 : tensor<3xi2>
}
