func.func @main(%a: tensor<4xi8>) -> tensor<4xi8> {
  %few = stablehlo.convert %a : (tensor<4xi8>) -> tensor<4xi4>
  %twice = stablehlo.add %few, %few : tensor<4xi4>
  %found = stablehlo.convert %twice : (tensor<4xi4>) -> tensor<4xi8>
  return %found : tensor<4xi8>
}
