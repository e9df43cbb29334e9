func.func @main(%a: tensor<1x128xf32>) -> (tensor<1x4xf32>) {
  %b = stablehlo.broadcast_in_dim %a, dims = [0, 1] : (tensor<1x128xf32>) -> tensor<64x128xf32>
  %c = stablehlo.optimization_barrier %b : tensor<64x128xf32>
  %i = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%c, %i) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 2, 1>, base_dilations = array<i64: 1, 2>} : (tensor<64x128xf32>, tensor<f32>) -> tensor<32x255xf32>
  %1 = stablehlo.optimization_barrier %0 : tensor<32x255xf32>
  %2 = stablehlo.slice %1 [0:1, 0:4] : (tensor<32x255xf32>) -> tensor<1x4xf32>
  return %2 : tensor<1x4xf32>
}
