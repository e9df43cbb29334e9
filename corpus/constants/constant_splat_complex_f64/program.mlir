func.func @main() -> (tensor<4xcomplex<f64>>) {
  %0 = stablehlo.constant dense<(1.0, 2.0)> : tensor<4xcomplex<f64>>
  return %0 : tensor<4xcomplex<f64>>
}
