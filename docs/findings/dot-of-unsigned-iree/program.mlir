func.func @main(%x: tensor<2x3xui8>, %w: tensor<3x2xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.convert %x : (tensor<2x3xui8>) -> tensor<2x3xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}
