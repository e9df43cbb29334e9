func.func @main(%t: !stablehlo.token) -> (tensor<2x3xf32>, !stablehlo.token) {
  %0:2 = "stablehlo.infeed"(%t) {infeed_config = "foo", layout = [[0, 1]]} : (!stablehlo.token) -> (tensor<2x3xf32>, !stablehlo.token)
  return %0#0, %0#1 : tensor<2x3xf32>, !stablehlo.token
}
