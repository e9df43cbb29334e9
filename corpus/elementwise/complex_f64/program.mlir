func.func @main(%a: tensor<4xf64>, %b: tensor<4xf64>) -> (tensor<4xcomplex<f64>>) {
  %0 = stablehlo.complex %a, %b : tensor<4xcomplex<f64>>
  return %0 : tensor<4xcomplex<f64>>
}
