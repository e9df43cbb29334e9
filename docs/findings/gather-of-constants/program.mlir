func.func @main() -> tensor<2x5xi32> {
  %a = stablehlo.constant dense<[[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]> : tensor<2x5xi32>
  %i = stablehlo.constant dense<[[0], [1], [2], [3], [4]]> : tensor<5x1xi32>
  %0 = "stablehlo.gather"(%a, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 2, 1>, indices_are_sorted = false} : (tensor<2x5xi32>, tensor<5x1xi32>) -> tensor<2x5xi32>
  %1 = stablehlo.negate %0 : tensor<2x5xi32>
  return %1 : tensor<2x5xi32>
}
