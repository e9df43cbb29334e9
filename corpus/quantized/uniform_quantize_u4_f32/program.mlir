func.func @main(%a: tensor<2x4xf32>) -> (tensor<2x4x!quant.uniform<u4:f32, 2.500000e-01:8>>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<2x4xf32>) -> tensor<2x4x!quant.uniform<u4:f32, 2.500000e-01:8>>
  return %0 : tensor<2x4x!quant.uniform<u4:f32, 2.500000e-01:8>>
}
