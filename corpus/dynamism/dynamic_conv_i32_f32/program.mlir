func.func @main(%a: tensor<1x8x8x3xf32>, %b: tensor<3x3x3x4xf32>, %p: tensor<2x2xi32>) -> (tensor<1x?x?x4xf32>) {
  %0 = "stablehlo.dynamic_conv"(%a, %b, %p) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, window_strides = array<i64: 2, 2>, rhs_dilation = array<i64: 1, 2>, lhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, true>, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>]} : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>, tensor<2x2xi32>) -> tensor<1x?x?x4xf32>
  return %0 : tensor<1x?x?x4xf32>
}
