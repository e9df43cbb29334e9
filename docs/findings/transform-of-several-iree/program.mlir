func.func @main(%a: tensor<8x8xf32>) -> tensor<8x5xcomplex<f32>> {
  %0 = stablehlo.fft %a, type = RFFT, length = [8, 8] : (tensor<8x8xf32>) -> tensor<8x5xcomplex<f32>>
  return %0 : tensor<8x5xcomplex<f32>>
}
