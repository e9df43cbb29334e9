func.func @main(%a: tensor<2x4xf32>) -> (tensor<2x4x!quant.uniform<u2:f32, 1.000000e+00:1>>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<2x4xf32>) -> tensor<2x4x!quant.uniform<u2:f32, 1.000000e+00:1>>
  return %0 : tensor<2x4x!quant.uniform<u2:f32, 1.000000e+00:1>>
}
