func.func @main(%a: tensor<4xf32>) -> (!stablehlo.token) {
  %0 = "stablehlo.custom_call"(%a) {call_target_name = "foo", has_side_effect = true} : (tensor<4xf32>) -> !stablehlo.token
  return %0 : !stablehlo.token
}
