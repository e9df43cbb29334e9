func.func @main() -> (tensor<4xi32>) {
  %0 = stablehlo.constant dense<1> : tensor<4xi32>
  return %0 : tensor<4xi32>
}
