func.func @main(%a: tensor<4x2xf32>) -> (tensor<4x2xf32>) {
  %0 = "stablehlo.custom_call"(%a) {call_target_name = "foo", called_computations = [@main]} : (tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
