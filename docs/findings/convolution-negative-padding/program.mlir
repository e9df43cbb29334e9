func.func @main() -> tensor<1x3x2x8xf32> {
  %a = stablehlo.constant dense<1.0> : tensor<1x3x6x8xf32>
  %b = stablehlo.constant dense<1.0> : tensor<1x1x8x8xf32>
  %c, %d = stablehlo.optimization_barrier %a, %b : tensor<1x3x6x8xf32>, tensor<1x1x8x8xf32>
  %0 = stablehlo.convolution(%c, %d) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[0, 0], [-5, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x6x8xf32>, tensor<1x1x8x8xf32>) -> tensor<1x3x2x8xf32>
  return %0 : tensor<1x3x2x8xf32>
}
