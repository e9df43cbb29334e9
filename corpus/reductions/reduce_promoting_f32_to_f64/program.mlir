func.func @main(%a: tensor<4x5xf32>, %i: tensor<f32>) -> (tensor<4xf64>) {
  %0 = "stablehlo.reduce"(%a, %i) ({
  ^bb0(%x: tensor<f64>, %y: tensor<f64>):
    %s = stablehlo.add %x, %y : tensor<f64>
    stablehlo.return %s : tensor<f64>
  }) {dimensions = array<i64: 1>} : (tensor<4x5xf32>, tensor<f32>) -> tensor<4xf64>
  return %0 : tensor<4xf64>
}
