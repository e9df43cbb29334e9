!stored = !quant.uniform<u8:f32, 0.5>
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.uniform_quantize %x : (tensor<2xf32>) -> tensor<2x!stored>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<2x!stored>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
