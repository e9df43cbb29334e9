func.func @main() -> tensor<3xf32> {
  %0 = stablehlo.constant dense<[(1.0, 0.0), (2.0, 1.0)]> : tensor<2xcomplex<f32>>
  %1 = stablehlo.fft %0, type = IRFFT, length = [3] : (tensor<2xcomplex<f32>>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}
