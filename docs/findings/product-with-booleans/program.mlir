func.func @main() -> tensor<3xf32> {
  %c = stablehlo.constant dense<[0x7F800000, 0x7FC00000, 2.0]> : tensor<3xf32>
  %d = stablehlo.constant dense<[false, false, true]> : tensor<3xi1>
  %x, %p = stablehlo.optimization_barrier %c, %d : tensor<3xf32>, tensor<3xi1>
  %0 = stablehlo.convert %p : (tensor<3xi1>) -> tensor<3xf32>
  %1 = stablehlo.multiply %x, %0 : tensor<3xf32>
  return %1 : tensor<3xf32>
}
