func.func @main() -> tensor<2xf32> {
  %a = stablehlo.constant dense<[89.0, 1.0]> : tensor<2xf32>
  %b = stablehlo.constant dense<[-1.0, -1.0]> : tensor<2xf32>
  %c, %d = stablehlo.optimization_barrier %a, %b : tensor<2xf32>, tensor<2xf32>
  %0 = stablehlo.exponential %c : tensor<2xf32>
  %1 = stablehlo.exponential %d : tensor<2xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<2xf32>
  return %2 : tensor<2xf32>
}
