func.func @main() -> tensor<3x1x2x8x8x8xf32> {
  %n = stablehlo.iota dim = 6 : tensor<3x1x2x2x8x8x8xf32>
  %x = "stablehlo.sort"(%n) ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %c = stablehlo.compare GT, %p, %q, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) {dimension = 6 : i64, is_stable = true} : (tensor<3x1x2x2x8x8x8xf32>) -> tensor<3x1x2x2x8x8x8xf32>
  %y = "stablehlo.sort"(%n) ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %c = stablehlo.compare LT, %p, %q, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) {dimension = 6 : i64, is_stable = true} : (tensor<3x1x2x2x8x8x8xf32>) -> tensor<3x1x2x2x8x8x8xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.multiply %x, %y : tensor<3x1x2x2x8x8x8xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<3x1x2x2x8x8x8xf32>, tensor<f32>) -> tensor<3x1x2x8x8x8xf32>
  return %1 : tensor<3x1x2x8x8x8xf32>
}
