func.func @main(%a: tensor<3x4xi8>, %b: tensor<4x5xi8>) -> (tensor<3x5xi32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<3x4xi8>, tensor<4x5xi8>) -> tensor<3x5xi32>
  return %0 : tensor<3x5xi32>
}
