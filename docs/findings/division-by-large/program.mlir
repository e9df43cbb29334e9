func.func @main() -> tensor<3xf32> {
  %c = stablehlo.constant dense<[3.0e38, -2.0e37, 1.0e30]> : tensor<3xf32>
  %x = stablehlo.optimization_barrier %c : tensor<3xf32>
  %large = stablehlo.constant dense<1.0e38> : tensor<3xf32>
  %0 = stablehlo.divide %x, %large : tensor<3xf32>
  return %0 : tensor<3xf32>
}
