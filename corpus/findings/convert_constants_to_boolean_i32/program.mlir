func.func @main() -> (tensor<4xi1>) {
  %c = stablehlo.constant dense<[0, 1, 4, 2]> : tensor<4xi32>
  %0 = stablehlo.convert %c : (tensor<4xi32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}
