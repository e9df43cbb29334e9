func.func @main(%a: tensor<4xf8E5M2>) -> (tensor<4xf32>) {
  %0 = stablehlo.convert %a : (tensor<4xf8E5M2>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
