func.func @main(%a: tensor<3xf32>) -> (tensor<3xf32>) {
  %0 = stablehlo.cbrt %a : tensor<3xf32>
  return %0 : tensor<3xf32>
}
