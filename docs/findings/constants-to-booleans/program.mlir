func.func @main() -> tensor<4xi1> {
  %0 = stablehlo.constant dense<[0, 1, 4, 2]> : tensor<4xi32>
  %1 = stablehlo.convert %0 : (tensor<4xi32>) -> tensor<4xi1>
  return %1 : tensor<4xi1>
}
