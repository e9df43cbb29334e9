func.func @main(%a: tensor<4xf32>) -> (!stablehlo.future<tensor<4xf32>>) {
  %0 = "stablehlo.custom_call"(%a) {call_target_name = "foo"} : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
  return %0 : !stablehlo.future<tensor<4xf32>>
}
