func.func @main() -> tensor<4xi1> {
  %a = stablehlo.constant dense<[(1.0, 2.0), (1.0, 3.0), (2.0, 0.0), (0.0, 0.0)]> : tensor<4xcomplex<f32>>
  %b = stablehlo.constant dense<[(1.0, 3.0), (1.0, 2.0), (1.0, 0.0), (0.0, 0.0)]> : tensor<4xcomplex<f32>>
  %0 = stablehlo.compare LT, %a, %b, FLOAT : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}
