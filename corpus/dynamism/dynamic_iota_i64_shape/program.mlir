func.func @main(%s: tensor<2xi64>) -> (tensor<?x3xi32>) {
  %0 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<2xi64>) -> tensor<?x3xi32>
  return %0 : tensor<?x3xi32>
}
