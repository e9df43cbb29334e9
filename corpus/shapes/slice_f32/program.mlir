func.func @main(%a: tensor<2x3xf32>) -> (tensor<1x2xf32>) {
  %0 = stablehlo.slice %a [1:2, 0:3:2] : (tensor<2x3xf32>) -> tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}
