func.func @main(%a: tensor<2x4xbf16>) -> (tensor<2x4x!quant.uniform<i8:bf16, 5.000000e-01:3>>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<2x4xbf16>) -> tensor<2x4x!quant.uniform<i8:bf16, 5.000000e-01:3>>
  return %0 : tensor<2x4x!quant.uniform<i8:bf16, 5.000000e-01:3>>
}
