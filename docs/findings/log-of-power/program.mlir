func.func @main() -> tensor<3xf32> {
  %b = stablehlo.constant dense<[-1.0, -3.0, 0.0]> : tensor<3xf32>
  %e = stablehlo.constant dense<[1.0, 3.0, 0.0]> : tensor<3xf32>
  %x = stablehlo.optimization_barrier %b : tensor<3xf32>
  %y = stablehlo.optimization_barrier %e : tensor<3xf32>
  %0 = stablehlo.power %x, %y : tensor<3xf32>
  %1 = stablehlo.log %0 : tensor<3xf32>
  return %1 : tensor<3xf32>
}
