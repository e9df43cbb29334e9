func.func @main(%a: tensor<?xf32>, %s: tensor<2xi64>) -> (tensor<?x?xf32>) {
  %0 = "stablehlo.dynamic_broadcast_in_dim"(%a, %s) {broadcast_dimensions = array<i64: 1>} : (tensor<?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
