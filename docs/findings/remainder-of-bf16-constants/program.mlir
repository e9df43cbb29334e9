func.func @main(%arg0: tensor<4xbf16>) -> tensor<4xbf16> {
  %0 = stablehlo.constant dense<[1.0, -2.0, 1.0, 0.5]> : tensor<4xbf16>
  %1 = stablehlo.remainder %arg0, %0 : tensor<4xbf16>
  return %1 : tensor<4xbf16>
}
