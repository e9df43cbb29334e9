func.func @main() -> tensor<1x3x1xf32> {
  %a = stablehlo.constant dense<[[[1.0], [2.0]]]> : tensor<1x2x1xf32>
  %k = stablehlo.constant dense<[[[0x7F800000]], [[3.0]]]> : tensor<2x1x1xf32>
  %0:2 = stablehlo.optimization_barrier %a, %k : tensor<1x2x1xf32>, tensor<2x1x1xf32>
  %1 = stablehlo.convolution(%0#0, %0#1) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x1xf32>, tensor<2x1x1xf32>) -> tensor<1x3x1xf32>
  return %1 : tensor<1x3x1xf32>
}
