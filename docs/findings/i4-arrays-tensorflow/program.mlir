func.func @main(%a: tensor<5xi4>) -> tensor<5xi8> {
  %0 = stablehlo.convert %a : (tensor<5xi4>) -> tensor<5xi8>
  return %0 : tensor<5xi8>
}
