func.func @main() -> tensor<1x1x1xf32> {
  %a = stablehlo.constant dense<200> : tensor<1x2x1xui8>
  %b = stablehlo.constant dense<3> : tensor<2x1x1xui8>
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x1xui8>, tensor<2x1x1xui8>) -> tensor<1x1x1xf32>
  return %0 : tensor<1x1x1xf32>
}
