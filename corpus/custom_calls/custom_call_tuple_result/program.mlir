func.func @main(%a: tensor<4xf32>) -> (tuple<tensor<4xf32>, tensor<i32>>) {
  %0 = "stablehlo.custom_call"(%a) {call_target_name = "foo"} : (tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<i32>>
  return %0 : tuple<tensor<4xf32>, tensor<i32>>
}
