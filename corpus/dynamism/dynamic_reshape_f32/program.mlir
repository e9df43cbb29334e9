func.func @main(%a: tensor<?xf32>, %s: tensor<2xi32>) -> (tensor<?x?xf32>) {
  %0 = stablehlo.dynamic_reshape %a, %s : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
