func.func @main(%a: tensor<2x!quant.uniform<f8E5M2:f32, 0.5>>) -> tensor<2x!quant.uniform<f8E5M2:f32, 0.5>> {
  %0 = stablehlo.abs %a : tensor<2x!quant.uniform<f8E5M2:f32, 0.5>>
  return %0 : tensor<2x!quant.uniform<f8E5M2:f32, 0.5>>
}
