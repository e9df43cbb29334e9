func.func @main(%a: tensor<4xi32>, %i: tensor<3x1xi32>) -> tensor<3xi32> {
  %0 = "stablehlo.gather"(%a, %i) <{
    dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1>, indices_are_sorted = false
  }> : (tensor<4xi32>, tensor<3x1xi32>) -> tensor<3xi32>
  return %0 : tensor<3xi32>
}
