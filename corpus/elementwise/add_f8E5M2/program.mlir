func.func @main(%a: tensor<4xf8E5M2>, %b: tensor<4xf8E5M2>) -> (tensor<4xf8E5M2>) {
  %0 = stablehlo.add %a, %b : tensor<4xf8E5M2>
  return %0 : tensor<4xf8E5M2>
}
