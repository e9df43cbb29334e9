func.func @main(%a: tensor<2x4xf32>) -> (tensor<2x4x!quant.uniform<i32:f32:0, {2.000000e+00,3.000000e+00}>>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<2x4xf32>) -> tensor<2x4x!quant.uniform<i32:f32:0, {2.000000e+00,3.000000e+00}>>
  return %0 : tensor<2x4x!quant.uniform<i32:f32:0, {2.000000e+00,3.000000e+00}>>
}
