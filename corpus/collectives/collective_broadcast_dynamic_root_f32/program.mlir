func.func @main(%a: tensor<4xf32>, %r: tensor<1xi32>) -> (tensor<4xf32>) {
  %0 = "stablehlo.collective_broadcast"(%a, %r) {replica_groups = dense<[[0]]> : tensor<1x1xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, has_dynamic_root} : (tensor<4xf32>, tensor<1xi32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
