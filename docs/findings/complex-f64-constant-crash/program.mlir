func.func @main() -> (tensor<2xcomplex<f64>>) {
  %0 = stablehlo.constant dense<[(1.0, 2.0), (-0.5, 0.0)]> : tensor<2xcomplex<f64>>
  return %0 : tensor<2xcomplex<f64>>
}
