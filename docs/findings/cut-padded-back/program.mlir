func.func @main() -> tensor<1x1xf32> {
  %a = stablehlo.constant dense<[[7.0, 5.0]]> : tensor<1x2xf32>
  %b = stablehlo.optimization_barrier %a : tensor<1x2xf32>
  %i = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %b, %i, low = [0, -1], high = [0, 0], interior = [1, 0] : (tensor<1x2xf32>, tensor<f32>) -> tensor<1x1xf32>
  %1 = "stablehlo.reduce_window"(%0, %i) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {window_dimensions = array<i64: 1, 2>, padding = dense<[[0, 0], [1, 0]]> : tensor<2x2xi64>} : (tensor<1x1xf32>, tensor<f32>) -> tensor<1x1xf32>
  return %1 : tensor<1x1xf32>
}
