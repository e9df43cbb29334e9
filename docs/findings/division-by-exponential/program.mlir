func.func @main() -> tensor<1xf32> {
  %a = stablehlo.constant dense<3.0e38> : tensor<1xf32>
  %b = stablehlo.constant dense<88.5> : tensor<1xf32>
  %c = stablehlo.constant dense<0.0> : tensor<1xf32>
  %x, %y, %z = stablehlo.optimization_barrier %a, %b, %c : tensor<1xf32>, tensor<1xf32>, tensor<1xf32>
  %0 = stablehlo.exponential %y : tensor<1xf32>
  %1 = stablehlo.divide %x, %0 : tensor<1xf32>
  return %1 : tensor<1xf32>
}
