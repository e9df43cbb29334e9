func.func @main(%a: tensor<5xf32>, %b: tensor<5xf32>) -> (tensor<5xf32>) {
  %0 = stablehlo.power %a, %b : tensor<5xf32>
  return %0 : tensor<5xf32>
}
