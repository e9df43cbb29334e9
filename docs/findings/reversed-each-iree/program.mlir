func.func @main(%x: tensor<1x3x2xf32>, %w: tensor<2x1x4xf32>) -> tensor<1x2x4xf32> {
  %r = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x3x2xf32>, tensor<2x1x4xf32>) -> tensor<1x2x4xf32>
  return %r : tensor<1x2x4xf32>
}
