func.func @main(%a: tensor<1x0xf32>) -> (tensor<0x2xf32>) {
  %0 = stablehlo.broadcast_in_dim %a, dims = [1, 0] : (tensor<1x0xf32>) -> tensor<0x2xf32>
  return %0 : tensor<0x2xf32>
}
