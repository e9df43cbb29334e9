func.func @main(%a: tensor<8xf32>, %i: tensor<3x1xi32>, %u: tensor<3xf32>) -> (tensor<8xf64>) {
  %0 = "stablehlo.scatter"(%a, %i, %u) ({
  ^bb0(%x: tensor<f64>, %y: tensor<f64>):
    %s = stablehlo.add %x, %y : tensor<f64>
    stablehlo.return %s : tensor<f64>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false} : (tensor<8xf32>, tensor<3x1xi32>, tensor<3xf32>) -> tensor<8xf64>
  return %0 : tensor<8xf64>
}
