func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>) {
  %t = stablehlo.tuple %a : tuple<tensor<4xf32>>
  %u = stablehlo.tuple %t, %a : tuple<tuple<tensor<4xf32>>, tensor<4xf32>>
  %v = stablehlo.get_tuple_element %u[0] : (tuple<tuple<tensor<4xf32>>, tensor<4xf32>>) -> tuple<tensor<4xf32>>
  %0 = stablehlo.get_tuple_element %v[0] : (tuple<tensor<4xf32>>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
