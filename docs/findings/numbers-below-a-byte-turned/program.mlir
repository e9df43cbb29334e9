func.func @main(%a: tensor<3x5xi8>) -> (tensor<5x3xi4>, tensor<3x5xi4>) {
  %few = stablehlo.convert %a : (tensor<3x5xi8>) -> tensor<3x5xi4>
  %turned = stablehlo.transpose %few, dims = [1, 0] : (tensor<3x5xi4>) -> tensor<5x3xi4>
  return %turned, %few : tensor<5x3xi4>, tensor<3x5xi4>
}
