func.func @main(%a: tensor<2x4x!quant.uniform<i8:f32, 2.000000e+00:-10>>) -> (tensor<2x4x!quant.uniform<i8:f32, 3.000000e+00:1>>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<2x4x!quant.uniform<i8:f32, 2.000000e+00:-10>>) -> tensor<2x4x!quant.uniform<i8:f32, 3.000000e+00:1>>
  return %0 : tensor<2x4x!quant.uniform<i8:f32, 3.000000e+00:1>>
}
