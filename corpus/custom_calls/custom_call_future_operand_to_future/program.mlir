func.func @main(%a: !stablehlo.future<tensor<2xf32>>) -> !stablehlo.future<tensor<2xf32>> {
  %0 = "stablehlo.custom_call"(%a) {call_target_name = "foo"} : (!stablehlo.future<tensor<2xf32>>) -> !stablehlo.future<tensor<2xf32>>
  return %0 : !stablehlo.future<tensor<2xf32>>
}
