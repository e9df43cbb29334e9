func.func @main(%a: tensor<4x6xf32>, %i: tensor<f32>) -> (tensor<3x5xf64>) {
  %0 = "stablehlo.reduce_window"(%a, %i) ({
  ^bb0(%x: tensor<f64>, %y: tensor<f64>):
    %s = stablehlo.add %x, %y : tensor<f64>
    stablehlo.return %s : tensor<f64>
  }) {window_dimensions = array<i64: 2, 2>} : (tensor<4x6xf32>, tensor<f32>) -> tensor<3x5xf64>
  return %0 : tensor<3x5xf64>
}
