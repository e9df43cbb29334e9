func.func @main(%a: tensor<1x8x8x3xf32>, %b: tensor<3x3x3x4xf32>, %p: tensor<2x2xi64>) -> (tensor<1x?x?x4xf32>) {
  %0 = "stablehlo.dynamic_conv"(%a, %b, %p) {dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>, tensor<2x2xi64>) -> tensor<1x?x?x4xf32>
  return %0 : tensor<1x?x?x4xf32>
}
