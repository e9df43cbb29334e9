func.func @main(%a: tensor<2xf32>, %b: tensor<2xf32>) -> (tensor<3xf32>) {
  %0 = stablehlo.complex %a, %b : tensor<2xcomplex<f32>>
  %1 = stablehlo.fft %0, type = IRFFT, length = [3] : (tensor<2xcomplex<f32>>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}
