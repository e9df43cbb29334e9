func.func @main() -> tensor<3xi32> {
  %a = stablehlo.constant dense<[-5, 2, 3]> : tensor<3xi32>
  %b = stablehlo.constant dense<[77, 64, 5]> : tensor<3xi32>
  %0:2 = stablehlo.optimization_barrier %a, %b : tensor<3xi32>, tensor<3xi32>
  %1 = stablehlo.power %0#0, %0#1 : tensor<3xi32>
  return %1 : tensor<3xi32>
}
