func.func @main(%a: memref<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.custom_call"(%a) {call_target_name = "Unpin", api_version = 4 : i32} : (memref<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
