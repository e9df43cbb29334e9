func.func @main(%a: tensor<4xi32>) -> (tensor<4xi32>) {
  %0 = stablehlo.constant dense<[77, 64, 33, 100]> : tensor<4xi32>
  %1 = stablehlo.power %a, %0 : tensor<4xi32>
  return %1 : tensor<4xi32>
}
