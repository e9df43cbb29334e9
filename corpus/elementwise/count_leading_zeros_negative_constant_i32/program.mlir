func.func @main() -> (tensor<4xi32>) {
  %0 = stablehlo.constant dense<[-1, 1, -5, 0]> : tensor<4xi32>
  %1 = stablehlo.count_leading_zeros %0 : tensor<4xi32>
  return %1 : tensor<4xi32>
}
