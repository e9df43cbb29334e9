func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>) {
  %0 = "stablehlo.custom_call"(%a) {call_target_name = "foo", api_version = 4 : i32, backend_config = {a = [1 : i64, "two", false], t = dense<[1, 2]> : tensor<2xi32>}} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
