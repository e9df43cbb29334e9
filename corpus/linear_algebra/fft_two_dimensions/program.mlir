func.func @main(%a: tensor<3x4xcomplex<f32>>) -> (tensor<3x4xcomplex<f32>>) {
  %0 = stablehlo.fft %a, type = FFT, length = [3, 4] : (tensor<3x4xcomplex<f32>>) -> tensor<3x4xcomplex<f32>>
  return %0 : tensor<3x4xcomplex<f32>>
}
