func.func @main(%a: tensor<4xi32>) -> (tensor<4xi32>) {
  %0 = stablehlo.multiply %a, %a : tensor<4xi32>
  %1 = stablehlo.abs %0 : tensor<4xi32>
  return %1 : tensor<4xi32>
}
