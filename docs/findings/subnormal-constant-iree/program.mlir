func.func @main(%arg0: tensor<2xf16>) -> tensor<2xf16> {
  %c = stablehlo.constant dense<1.0e-05> : tensor<2xf16>
  %0 = stablehlo.add %arg0, %c : tensor<2xf16>
  %1 = stablehlo.rsqrt %0 : tensor<2xf16>
  return %1 : tensor<2xf16>
}
