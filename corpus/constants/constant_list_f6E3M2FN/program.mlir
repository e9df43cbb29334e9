func.func @main() -> (tensor<3xf6E3M2FN>) {
  %0 = stablehlo.constant dense<[1.0, 2.0, 0.5]> : tensor<3xf6E3M2FN>
  return %0 : tensor<3xf6E3M2FN>
}
