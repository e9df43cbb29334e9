!stored = !quant.uniform<i8:f32, 0.5>
!summed = !quant.uniform<i8:f32, 0.25>
func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.uniform_quantize %x : (tensor<2x2xf32>) -> tensor<2x2x!stored>
  %1 = stablehlo.dot_general %0, %0, contracting_dims = [1] x [0] : (tensor<2x2x!stored>, tensor<2x2x!stored>) -> tensor<2x2x!summed>
  %2 = stablehlo.uniform_dequantize %1 : (tensor<2x2x!summed>) -> tensor<2x2xf32>
  return %2 : tensor<2x2xf32>
}
