func.func @main(%a: tensor<4xf32>) -> memref<4xf32> {
  %0 = "stablehlo.custom_call"() {call_target_name = "CreateBuffer", api_version = 4 : i32} : () -> memref<4xf32>
  return %0 : memref<4xf32>
}
