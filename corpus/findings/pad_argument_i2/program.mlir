func.func @main(%a: tensor<3xi2>) -> (tensor<4xi2>) {
  %i = stablehlo.constant dense<1> : tensor<i2>
  %0 = stablehlo.pad %a, %i, low = [1], high = [0], interior = [0] : (tensor<3xi2>, tensor<i2>) -> tensor<4xi2>
  return %0 : tensor<4xi2>
}
