func.func @main(%a: tensor<4xf32>) -> (tensor<4x2xi16>) {
  %0 = stablehlo.bitcast_convert %a : (tensor<4xf32>) -> tensor<4x2xi16>
  return %0 : tensor<4x2xi16>
}
