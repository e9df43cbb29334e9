func.func @main(%a: tensor<2x2xi8>) -> memref<2x2xi8> {
  %0 = "stablehlo.custom_call"(%a) {call_target_name = "Pin", api_version = 4 : i32} : (tensor<2x2xi8>) -> memref<2x2xi8>
  return %0 : memref<2x2xi8>
}
