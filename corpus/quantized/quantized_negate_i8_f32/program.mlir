func.func @main(%a: tensor<2x4x!quant.uniform<i8:f32, 2.000000e+00:-10>>) -> (tensor<2x4x!quant.uniform<i8:f32, 2.000000e+00:-10>>) {
  %0 = stablehlo.negate %a : tensor<2x4x!quant.uniform<i8:f32, 2.000000e+00:-10>>
  return %0 : tensor<2x4x!quant.uniform<i8:f32, 2.000000e+00:-10>>
}
