func.func @main() -> tensor<2xf32> {
  %c = stablehlo.constant dense<[1.0e-30, 0.0]> : tensor<2xf32>
  %d = stablehlo.constant dense<1.0e+30> : tensor<2xf32>
  %x = stablehlo.optimization_barrier %c : tensor<2xf32>
  %0 = stablehlo.multiply %x, %d : tensor<2xf32>
  %1 = stablehlo.multiply %0, %d : tensor<2xf32>
  return %1 : tensor<2xf32>
}
