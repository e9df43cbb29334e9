func.func @main(%a: tensor<8xf32>) -> tensor<8xi1> {
  %0 = stablehlo.floor %a : tensor<8xf32>
  %1 = stablehlo.compare EQ, %a, %0 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  return %1 : tensor<8xi1>
}
