func.func @main(%a: tensor<2x4xf32>) -> (tensor<2x4x!quant.uniform<u8:f32, 5.000000e-01:128>>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<2x4xf32>) -> tensor<2x4x!quant.uniform<u8:f32, 5.000000e-01:128>>
  return %0 : tensor<2x4x!quant.uniform<u8:f32, 5.000000e-01:128>>
}
