func.func @main() -> tensor<32x255xf32> {
  %a = stablehlo.iota dim = 1 : tensor<64x128xf32>
  %one = stablehlo.constant dense<1.0> : tensor<64x128xf32>
  %b = stablehlo.add %a, %one : tensor<64x128xf32>
  %kept = stablehlo.optimization_barrier %b : tensor<64x128xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%kept, %zero) ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %sum = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %sum : tensor<f32>
  }) {window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 2, 1>, base_dilations = array<i64: 1, 2>} : (tensor<64x128xf32>, tensor<f32>) -> tensor<32x255xf32>
  return %0 : tensor<32x255xf32>
}
