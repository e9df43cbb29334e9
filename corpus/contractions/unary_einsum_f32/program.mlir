func.func @main(%a: tensor<3x4xf32>) -> (tensor<4x3xf32>) {
  %0 = "stablehlo.unary_einsum"(%a) {einsum_config = "ij->ji"} : (tensor<3x4xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}
