func.func @main(%a: tensor<4xf32>, %b: tensor<2xi32>) -> (tensor<4xf32>) {
  %t = stablehlo.tuple %a, %b : tuple<tensor<4xf32>, tensor<2xi32>>
  %0 = stablehlo.get_tuple_element %t[0] : (tuple<tensor<4xf32>, tensor<2xi32>>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
