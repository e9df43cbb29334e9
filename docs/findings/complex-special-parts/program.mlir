func.func @main() -> tensor<f32> {
  %c = stablehlo.constant dense<(-4.0, -0.0)> : tensor<complex<f32>>
  %x = stablehlo.optimization_barrier %c : tensor<complex<f32>>
  %0 = stablehlo.sqrt %x : tensor<complex<f32>>
  %1 = stablehlo.imag %0 : (tensor<complex<f32>>) -> tensor<f32>
  return %1 : tensor<f32>
}
