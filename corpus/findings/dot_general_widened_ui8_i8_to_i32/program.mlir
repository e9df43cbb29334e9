func.func @main(%a: tensor<4x5xui8>, %b: tensor<5x3xi8>) -> (tensor<4x3xi32>) {
  %0 = stablehlo.convert %a : (tensor<4x5xui8>) -> tensor<4x5xi32>
  %1 = stablehlo.convert %b : (tensor<5x3xi8>) -> tensor<5x3xi32>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<4x5xi32>, tensor<5x3xi32>) -> tensor<4x3xi32>
  return %2 : tensor<4x3xi32>
}
