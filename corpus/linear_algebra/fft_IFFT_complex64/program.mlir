func.func @main(%a: tensor<3x8xcomplex<f32>>) -> (tensor<3x8xcomplex<f32>>) {
  %0 = stablehlo.fft %a, type = IFFT, length = [8] : (tensor<3x8xcomplex<f32>>) -> tensor<3x8xcomplex<f32>>
  return %0 : tensor<3x8xcomplex<f32>>
}
