func.func @main(%a: tensor<2x4xf64>) -> (tensor<2x4x!quant.uniform<i8:f64, 5.000000e-01:3>>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<2x4xf64>) -> tensor<2x4x!quant.uniform<i8:f64, 5.000000e-01:3>>
  return %0 : tensor<2x4x!quant.uniform<i8:f64, 5.000000e-01:3>>
}
