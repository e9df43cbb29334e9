func.func @main() -> (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) {
  %a = stablehlo.constant dense<[(0.0, -0.5), (1.0, 2.0)]> : tensor<2xcomplex<f32>>
  %b = stablehlo.constant dense<[(0.0, 1.0), (1.0, 1.0)]> : tensor<2xcomplex<f32>>
  %0 = stablehlo.maximum %a, %b : tensor<2xcomplex<f32>>
  %1 = stablehlo.minimum %a, %b : tensor<2xcomplex<f32>>
  return %0, %1 : tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>
}
