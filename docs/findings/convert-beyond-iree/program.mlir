func.func @main(%x: tensor<2xf32>) -> tensor<2xui32> {
  %0 = stablehlo.convert %x : (tensor<2xf32>) -> tensor<2xui32>
  return %0 : tensor<2xui32>
}
