func.func @main(%a: tensor<4xi4>, %b: tensor<4xi4>) -> (tensor<4xi4>) {
  %0 = stablehlo.add %a, %b : tensor<4xi4>
  return %0 : tensor<4xi4>
}
