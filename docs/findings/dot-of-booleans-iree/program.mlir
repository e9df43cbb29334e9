func.func @main(%x: tensor<2x4x3xf32>, %p: tensor<2x4xi1>) -> tensor<2x3xf32> {
  %m = stablehlo.convert %p : (tensor<2x4xi1>) -> tensor<2x4xf32>
  %y = stablehlo.dot_general %x, %m, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<2x4x3xf32>, tensor<2x4xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
