func.func @main(%a: tensor<4xi8>) -> (tensor<4xi8>) {
  %0 = stablehlo.negate %a : tensor<4xi8>
  return %0 : tensor<4xi8>
}
