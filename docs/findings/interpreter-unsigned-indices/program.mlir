func.func @main() -> tensor<3xf32> {
  %a = stablehlo.iota dim = 0 : tensor<300xf32>
  %i = stablehlo.constant dense<[[200], [255], [3]]> : tensor<3x1xui8>
  %0 = "stablehlo.gather"(%a, %i) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>, indices_are_sorted = false} : (tensor<300xf32>, tensor<3x1xui8>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
