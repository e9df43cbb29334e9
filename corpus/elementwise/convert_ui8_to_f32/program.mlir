func.func @main(%a: tensor<4xui8>) -> (tensor<4xf32>) {
  %0 = stablehlo.convert %a : (tensor<4xui8>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
