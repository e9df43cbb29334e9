func.func @main(%a: tensor<3x3xf64>) -> (tensor<4xf64>) {
  %n = stablehlo.iota dim = 0 : tensor<17000x3xf64>
  %b = stablehlo.optimization_barrier %n : tensor<17000x3xf64>
  %i = stablehlo.constant dense<0.0> : tensor<f64>
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] : (tensor<3x3xf64>, tensor<17000x3xf64>) -> tensor<3x17000xf64>
  %1 = stablehlo.reduce(%0 init: %i) applies stablehlo.add across dimensions = [0] : (tensor<3x17000xf64>, tensor<f64>) -> tensor<17000xf64>
  %2 = stablehlo.optimization_barrier %1 : tensor<17000xf64>
  %3 = stablehlo.slice %2 [16996:17000] : (tensor<17000xf64>) -> tensor<4xf64>
  return %3 : tensor<4xf64>
}
