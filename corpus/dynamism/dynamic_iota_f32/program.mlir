func.func @main(%s: tensor<2xi32>) -> (tensor<?x?xf32>) {
  %0 = stablehlo.dynamic_iota %s, dim = 1 : (tensor<2xi32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
