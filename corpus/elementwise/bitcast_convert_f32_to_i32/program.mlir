func.func @main(%a: tensor<4xf32>) -> (tensor<4xi32>) {
  %0 = stablehlo.bitcast_convert %a : (tensor<4xf32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
