func.func @main() -> tensor<3xi1> {
  %0 = stablehlo.constant dense<[-0.0, 1.0, 0x7FC00000]> : tensor<3xf32>
  %1 = stablehlo.constant dense<[0.0, 0x7FC00000, 0x7FC00000]> : tensor<3xf32>
  %2:2 = stablehlo.optimization_barrier %0, %1 : tensor<3xf32>, tensor<3xf32>
  %3 = stablehlo.compare LT, %2#0, %2#1, TOTALORDER : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  return %3 : tensor<3xi1>
}
