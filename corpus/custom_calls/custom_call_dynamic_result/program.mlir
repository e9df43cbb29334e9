func.func @main(%a: tensor<4xf32>) -> (tensor<?xf32>) {
  %0 = "stablehlo.custom_call"(%a) {call_target_name = "foo"} : (tensor<4xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
