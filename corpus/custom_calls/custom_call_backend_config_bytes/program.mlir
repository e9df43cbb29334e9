func.func @main(%a: tensor<4x2xf32>) -> (tensor<4x2xf32>) {
  %0 = "stablehlo.custom_call"(%a) {call_target_name = "foo", backend_config = "x\00\FFy"} : (tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
