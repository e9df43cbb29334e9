func.func @main(%i: tensor<1x1xi32>, %u: tensor<1xf32>) -> (tensor<4xf32>) {
  %a = stablehlo.constant dense<[-2.0, 3.0, 0.5, 1.0]> : tensor<4xf32>
  %0 = "stablehlo.scatter"(%a, %i, %u) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %y : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<4xf32>, tensor<1x1xi32>, tensor<1xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
