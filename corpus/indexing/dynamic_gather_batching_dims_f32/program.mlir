func.func @main(%a: tensor<5x2x4x9xf32>, %i: tensor<1x5x2xi32>, %s: tensor<4xi32>) -> (tensor<1x5x8xf32>) {
  %0 = "stablehlo.dynamic_gather"(%a, %i, %s) {dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1, 2], operand_batching_dims = [0], start_indices_batching_dims = [1], start_index_map = [1, 2], index_vector_dim = 2>, indices_are_sorted = false} : (tensor<5x2x4x9xf32>, tensor<1x5x2xi32>, tensor<4xi32>) -> tensor<1x5x8xf32>
  return %0 : tensor<1x5x8xf32>
}
