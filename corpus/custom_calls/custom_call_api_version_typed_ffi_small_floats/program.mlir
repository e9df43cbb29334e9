func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>) {
  %0 = "stablehlo.custom_call"(%a) {call_target_name = "foo", api_version = 4 : i32, backend_config = {x = 1.0 : f8E4M3, y = 1.0 : bf16}} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
