func.func @main(%a: tensor<4x2xf32>) -> (tensor<4x2xf32>) {
  %0 = "stablehlo.custom_call"(%a) {call_target_name = "foo", operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
