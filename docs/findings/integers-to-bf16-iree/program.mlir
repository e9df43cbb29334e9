func.func @main(%x: tensor<16xi32>) -> (tensor<16xbf16>, tensor<16xbf16>) {
  %0 = stablehlo.convert %x : (tensor<16xi32>) -> tensor<16xf32>
  %1 = stablehlo.convert %0 : (tensor<16xf32>) -> tensor<16xbf16>
  %2 = stablehlo.iota dim = 0 : tensor<16xbf16>
  return %1, %2 : tensor<16xbf16>, tensor<16xbf16>
}
