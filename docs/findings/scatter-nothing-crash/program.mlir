func.func @main(%a: tensor<4xi32>, %i: tensor<0x1xi32>, %u: tensor<0xi32>) -> tensor<4xi32> {
  %0 = "stablehlo.scatter"(%a, %i, %u) ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    stablehlo.return %y : tensor<i32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false} : (tensor<4xi32>, tensor<0x1xi32>, tensor<0xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
