func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>) {
  %0 = "stablehlo.custom_call"(%a) {call_target_name = "foo", api_version = 4 : i32, backend_config = {k = 1 : i64, u = 2 : ui8, f = 1.5 : f32, d = 2.5 : f64, s = "t", b = true}} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
