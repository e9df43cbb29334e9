func.func @main() -> tensor<2xf32> {
  %a = stablehlo.constant dense<[89.0, 1.0]> : tensor<2xf32>
  %b = stablehlo.optimization_barrier %a : tensor<2xf32>
  %0 = stablehlo.exponential %b : tensor<2xf32>
  %1 = stablehlo.log %0 : tensor<2xf32>
  return %1 : tensor<2xf32>
}
