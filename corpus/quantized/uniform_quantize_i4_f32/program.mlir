func.func @main(%a: tensor<2x4xf32>) -> (tensor<2x4x!quant.uniform<i4:f32, 2.500000e-01>>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<2x4xf32>) -> tensor<2x4x!quant.uniform<i4:f32, 2.500000e-01>>
  return %0 : tensor<2x4x!quant.uniform<i4:f32, 2.500000e-01>>
}
