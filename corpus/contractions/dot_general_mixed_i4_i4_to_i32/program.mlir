func.func @main(%a: tensor<3x4xi4>, %b: tensor<4x5xi4>) -> (tensor<3x5xi32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<3x4xi4>, tensor<4x5xi4>) -> tensor<3x5xi32>
  return %0 : tensor<3x5xi32>
}
