func.func @main(%a: tensor<2xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %0 = stablehlo.constant dense<(1.0, -2.0)> : tensor<complex<f32>>
  %1 = stablehlo.pad %a, %0, low = [1], high = [1], interior = [0] : (tensor<2xcomplex<f32>>, tensor<complex<f32>>) -> tensor<4xcomplex<f32>>
  return %1 : tensor<4xcomplex<f32>>
}
