func.func @main() -> tensor<1xf32> {
  %a = stablehlo.constant dense<1.0e30> : tensor<1xf32>
  %b = stablehlo.constant dense<1.0e20> : tensor<1xf32>
  %c = stablehlo.constant dense<1.0e20> : tensor<1xf32>
  %x, %y, %z = stablehlo.optimization_barrier %a, %b, %c : tensor<1xf32>, tensor<1xf32>, tensor<1xf32>
  %0 = stablehlo.divide %x, %y : tensor<1xf32>
  %1 = stablehlo.divide %0, %z : tensor<1xf32>
  return %1 : tensor<1xf32>
}
