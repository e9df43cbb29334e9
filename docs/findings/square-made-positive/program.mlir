func.func @main() -> tensor<2xi32> {
  %a = stablehlo.constant dense<[65535, -3]> : tensor<2xi32>
  %b = stablehlo.optimization_barrier %a : tensor<2xi32>
  %0 = stablehlo.multiply %b, %b : tensor<2xi32>
  %1 = stablehlo.abs %0 : tensor<2xi32>
  return %1 : tensor<2xi32>
}
