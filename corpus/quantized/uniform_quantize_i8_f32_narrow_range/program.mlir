func.func @main(%a: tensor<2x4xf32>) -> (tensor<2x4x!quant.uniform<i8<-127:127>:f32, 1.250000e-01>>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<2x4xf32>) -> tensor<2x4x!quant.uniform<i8<-127:127>:f32, 1.250000e-01>>
  return %0 : tensor<2x4x!quant.uniform<i8<-127:127>:f32, 1.250000e-01>>
}
