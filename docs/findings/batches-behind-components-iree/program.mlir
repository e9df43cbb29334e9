func.func @main(%x: tensor<4x6xf32>, %i: tensor<1x4x2x2xi32>) -> tensor<4x2x2xf32> {
  %r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<
    collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [1],
    start_index_map = [1], index_vector_dim = 0>, slice_sizes = array<i64: 1, 1>}>
    : (tensor<4x6xf32>, tensor<1x4x2x2xi32>) -> tensor<4x2x2xf32>
  return %r : tensor<4x2x2xf32>
}
