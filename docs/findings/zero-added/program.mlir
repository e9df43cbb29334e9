func.func @main() -> tensor<2xf32> {
  %c = stablehlo.constant dense<[-0.0, 2.0]> : tensor<2xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<2xf32>
  %one = stablehlo.constant dense<1.0> : tensor<2xf32>
  %x = stablehlo.optimization_barrier %c : tensor<2xf32>
  %0 = stablehlo.add %x, %zero : tensor<2xf32>
  %1 = stablehlo.divide %one, %0 : tensor<2xf32>
  return %1 : tensor<2xf32>
}
