func.func @main() -> tensor<4xf32> {
  %a = stablehlo.constant dense<[0.3, 1.2, 2.7, -1.4]> : tensor<4xf32>
  %b = stablehlo.optimization_barrier %a : tensor<4xf32>
  %c = stablehlo.constant dense<12582912.0> : tensor<4xf32>
  %0 = stablehlo.add %b, %c : tensor<4xf32>
  %1 = stablehlo.subtract %0, %c : tensor<4xf32>
  return %1 : tensor<4xf32>
}
