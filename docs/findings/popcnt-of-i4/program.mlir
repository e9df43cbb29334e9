func.func @main(%a: tensor<4xi8>) -> tensor<4xi32> {
  %few = stablehlo.convert %a : (tensor<4xi8>) -> tensor<4xi4>
  %bits = stablehlo.popcnt %few : tensor<4xi4>
  %found = stablehlo.convert %bits : (tensor<4xi4>) -> tensor<4xi32>
  return %found : tensor<4xi32>
}
