func.func @main() -> (tensor<3x!quant.uniform<i8:f32, 2.000000e+00>>) {
  %0 = stablehlo.constant() {value = dense<[1, 2, 3]> : tensor<3xi8>} : () -> tensor<3x!quant.uniform<i8:f32, 2.000000e+00>>
  return %0 : tensor<3x!quant.uniform<i8:f32, 2.000000e+00>>
}
