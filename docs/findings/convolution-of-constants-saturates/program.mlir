func.func @main() -> tensor<1x2x1xi8> {
  %a = stablehlo.constant dense<[[[127], [1]]]> : tensor<1x2x1xi8>
  %b = stablehlo.constant dense<[[[1]], [[2]]]> : tensor<2x1x1xi8>
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x1xi8>, tensor<2x1x1xi8>) -> tensor<1x2x1xi8>
  return %0 : tensor<1x2x1xi8>
}
