func.func @main(%a: tensor<2x3x4xbf16>, %b: tensor<2x4x5xbf16>) -> (tensor<2x3x5xbf16>) {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x3x4xbf16>, tensor<2x4x5xbf16>) -> tensor<2x3x5xbf16>
  return %0 : tensor<2x3x5xbf16>
}
