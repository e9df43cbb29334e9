func.func @main(%a: tensor<2x4xbf16>) -> (tensor<2x4x!quant.uniform<i8:bf16:0, {2.000000e+00,3.000000e+00}>>) {
  %0 = stablehlo.uniform_quantize %a : (tensor<2x4xbf16>) -> tensor<2x4x!quant.uniform<i8:bf16:0, {2.000000e+00,3.000000e+00}>>
  return %0 : tensor<2x4x!quant.uniform<i8:bf16:0, {2.000000e+00,3.000000e+00}>>
}
