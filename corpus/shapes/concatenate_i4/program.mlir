func.func @main(%a: tensor<2x3xi4>) -> (tensor<2x6xi4>) {
  %0 = stablehlo.concatenate %a, %a, dim = 1 : (tensor<2x3xi4>, tensor<2x3xi4>) -> tensor<2x6xi4>
  return %0 : tensor<2x6xi4>
}
