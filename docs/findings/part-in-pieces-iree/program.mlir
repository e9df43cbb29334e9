func.func @main(%a: tensor<2x3xf32>) -> tensor<2x2xf32> {
  %part = stablehlo.slice %a [0:2, 1:3] : (tensor<2x3xf32>) -> tensor<2x2xf32>
  %found = stablehlo.reverse %part, dims = [1] : tensor<2x2xf32>
  return %found : tensor<2x2xf32>
}
