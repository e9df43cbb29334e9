func.func @main() -> tensor<2xi1> {
  %a = stablehlo.constant dense<[0x7FC00000, -2.0]> : tensor<2xf32>
  %x = stablehlo.optimization_barrier %a : tensor<2xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<2xf32>
  %0 = stablehlo.abs %x : tensor<2xf32>
  %1 = stablehlo.compare GE, %0, %zero, FLOAT : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  return %1 : tensor<2xi1>
}
