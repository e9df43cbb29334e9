func.func @main(%a: tensor<2xi4>, %b: tensor<3xi4>) -> tensor<5xi4> {
  %0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<2xi4>, tensor<3xi4>) -> tensor<5xi4>
  return %0 : tensor<5xi4>
}
