func.func @main() -> tensor<2xi1> {
  %a = stablehlo.constant dense<[65535, -3]> : tensor<2xi32>
  %b = stablehlo.optimization_barrier %a : tensor<2xi32>
  %zero = stablehlo.constant dense<0> : tensor<2xi32>
  %0 = stablehlo.multiply %b, %b : tensor<2xi32>
  %1 = stablehlo.compare LT, %0, %zero, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
  return %1 : tensor<2xi1>
}
