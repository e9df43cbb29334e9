func.func @main(%a: tensor<2x3xi2>) -> (tensor<2x6xi2>) {
  %0 = stablehlo.concatenate %a, %a, dim = 1 : (tensor<2x3xi2>, tensor<2x3xi2>) -> tensor<2x6xi2>
  return %0 : tensor<2x6xi2>
}
