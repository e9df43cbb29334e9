func.func @main() -> tensor<17000xf64> {
  %a = stablehlo.constant dense<1.0> : tensor<3x3xf64>
  %n = stablehlo.iota dim = 0 : tensor<17000x3xf64>
  %b, %c = stablehlo.optimization_barrier %a, %n : tensor<3x3xf64>, tensor<17000x3xf64>
  %i = stablehlo.constant dense<0.0> : tensor<f64>
  %0 = stablehlo.dot_general %b, %c, contracting_dims = [1] x [1] : (tensor<3x3xf64>, tensor<17000x3xf64>) -> tensor<3x17000xf64>
  %1 = stablehlo.reduce(%0 init: %i) applies stablehlo.add across dimensions = [0] : (tensor<3x17000xf64>, tensor<f64>) -> tensor<17000xf64>
  return %1 : tensor<17000xf64>
}
