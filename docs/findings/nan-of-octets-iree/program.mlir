func.func @main(%a: tensor<4xui8>) -> tensor<4xi1> {
  %few = stablehlo.bitcast_convert %a : (tensor<4xui8>) -> tensor<4xf8E4M3FN>
  %wide = stablehlo.convert %few : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
  %found = stablehlo.compare NE, %wide, %wide : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %found : tensor<4xi1>
}
