func.func @main(%a: tensor<2x3xi4>) -> (tensor<3x2xi4>) {
  %0 = stablehlo.reshape %a : (tensor<2x3xi4>) -> tensor<3x2xi4>
  return %0 : tensor<3x2xi4>
}
