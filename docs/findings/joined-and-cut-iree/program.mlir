func.func @main(%a: tensor<2xf32>, %b: tensor<3xf32>) -> (tensor<5xf32>, tensor<2xf32>) {
  %c = stablehlo.concatenate %a, %b, dim = 0 : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
  %p = stablehlo.slice %c [0:2] : (tensor<5xf32>) -> tensor<2xf32>
  return %c, %p : tensor<5xf32>, tensor<2xf32>
}
