func.func @main(%a: !stablehlo.future<tensor<2xi4>>) -> tensor<2xi4> {
  %0 = "stablehlo.custom_call"(%a) {call_target_name = "foo"} : (!stablehlo.future<tensor<2xi4>>) -> tensor<2xi4>
  return %0 : tensor<2xi4>
}
