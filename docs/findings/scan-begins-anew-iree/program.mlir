func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %begin = stablehlo.constant dense<100.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %begin) <{window_dimensions = array<i64: 4>, padding = dense<[[3, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
