func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>) {
  %0 = stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xbf16>
  %1 = stablehlo.convert %0 : (tensor<4xbf16>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
