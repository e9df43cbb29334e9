func.func @main() -> tensor<1x3x1xf32> {
  %x = stablehlo.iota dim = 1 : tensor<1x4x1xf32>
  %w = stablehlo.iota dim = 0 : tensor<3x1x1xf32>
  %r = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [2], lhs_dilate = [2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x1xf32>, tensor<3x1x1xf32>) -> tensor<1x3x1xf32>
  return %r : tensor<1x3x1xf32>
}
