func.func @main(%x: tensor<4096x4xf16>) -> tensor<4xf16> {
  %zero = stablehlo.constant dense<0.0> : tensor<f16>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4096x4xf16>, tensor<f16>) -> tensor<4xf16>
  return %0 : tensor<4xf16>
}
