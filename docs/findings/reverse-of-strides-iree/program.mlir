func.func @main(%a: tensor<8xf32>) -> tensor<4xf32> {
  %0 = stablehlo.slice %a [1:8:2] : (tensor<8xf32>) -> tensor<4xf32>
  %1 = stablehlo.reverse %0, dims = [0] : tensor<4xf32>
  return %1 : tensor<4xf32>
}
