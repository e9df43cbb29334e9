func.func @main() -> tensor<2xf32> {
  %a = stablehlo.constant dense<[1.001, 3.0]> : tensor<2xf32>
  %b = stablehlo.optimization_barrier %a : tensor<2xf32>
  %0 = stablehlo.convert %b : (tensor<2xf32>) -> tensor<2xbf16>
  %1 = stablehlo.convert %0 : (tensor<2xbf16>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
