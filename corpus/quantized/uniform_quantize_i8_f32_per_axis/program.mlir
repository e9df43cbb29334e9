func.func @main(%a: tensor<2x4xf32>) -> (tensor<2x4x!quant.uniform<i8:f32:0, {2.000000e+00:1,3.000000e+00:-2}>>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<2x4xf32>) -> tensor<2x4x!quant.uniform<i8:f32:0, {2.000000e+00:1,3.000000e+00:-2}>>
  return %0 : tensor<2x4x!quant.uniform<i8:f32:0, {2.000000e+00:1,3.000000e+00:-2}>>
}
