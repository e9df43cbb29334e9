func.func @main() -> tensor<2xcomplex<f32>> {
  %c = stablehlo.constant dense<[(0.0, -1.0), (1.0, 1.0)]> : tensor<2xcomplex<f32>>
  %r = stablehlo.fft %c, type = FFT, length = [2] : (tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  return %r : tensor<2xcomplex<f32>>
}
