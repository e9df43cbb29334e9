func.func @main() -> tensor<8xf32> {
  %a = stablehlo.constant dense<[0.5, 1.0, -1.0, 2.0, -2.0, 0.0, 1.5, 3.0]> : tensor<8xf32>
  %b = stablehlo.optimization_barrier %a : tensor<8xf32>
  %nan = stablehlo.constant dense<0x7FC00000> : tensor<8xf32>
  %0 = stablehlo.add %b, %nan : tensor<8xf32>
  %1 = stablehlo.exponential %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}
