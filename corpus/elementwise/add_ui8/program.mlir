func.func @main(%a: tensor<4xui8>, %b: tensor<4xui8>) -> (tensor<4xui8>) {
  %0 = stablehlo.add %a, %b : tensor<4xui8>
  return %0 : tensor<4xui8>
}
