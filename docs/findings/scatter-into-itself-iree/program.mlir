func.func @main(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %i = stablehlo.iota dim = 1 : tensor<4x3x2xi32>
  %0 = "stablehlo.scatter"(%x, %i, %x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false} : (tensor<4x3xf32>, tensor<4x3x2xi32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}
