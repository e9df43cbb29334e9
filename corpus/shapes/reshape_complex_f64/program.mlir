func.func @main(%a: tensor<2x3xcomplex<f64>>) -> (tensor<3x2xcomplex<f64>>) {
  %0 = stablehlo.reshape %a : (tensor<2x3xcomplex<f64>>) -> tensor<3x2xcomplex<f64>>
  return %0 : tensor<3x2xcomplex<f64>>
}
