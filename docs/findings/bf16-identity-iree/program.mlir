func.func @main(%a: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.convert %a : (tensor<3xf32>) -> tensor<3xbf16>
  %1 = stablehlo.convert %0 : (tensor<3xbf16>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}
