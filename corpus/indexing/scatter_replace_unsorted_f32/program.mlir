func.func @main(%a: tensor<8xf32>, %i: tensor<3x1xi64>, %u: tensor<3xf32>) -> (tensor<8xf32>) {
  %0 = "stablehlo.scatter"(%a, %i, %u) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %y : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false} : (tensor<8xf32>, tensor<3x1xi64>, tensor<3xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
