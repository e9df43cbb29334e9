func.func @main(%a: tensor<4xf32>) -> (tuple<tensor<4xf32>, tensor<4xf32>>) {
  %0 = stablehlo.tuple %a, %a : tuple<tensor<4xf32>, tensor<4xf32>>
  return %0 : tuple<tensor<4xf32>, tensor<4xf32>>
}
