func.func @main(%a: tensor<4x5xi1>, %i: tensor<i1>) -> (tensor<4xi1>) {
  %0 = stablehlo.reduce(%a init: %i) applies stablehlo.and across dimensions = [1] : (tensor<4x5xi1>, tensor<i1>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}
