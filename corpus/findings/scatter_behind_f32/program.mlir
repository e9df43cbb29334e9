func.func @main(%a: tensor<2x3x2xf32>, %u: tensor<2x1xf32>) -> (tensor<2x3x2xf32>) {
  %i = stablehlo.constant dense<[[2, 1]]> : tensor<1x2xi32>
  %0 = "stablehlo.scatter"(%a, %i, %u) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [1, 2], scatter_dims_to_operand_dims = [1, 2], index_vector_dim = 1>} : (tensor<2x3x2xf32>, tensor<1x2xi32>, tensor<2x1xf32>) -> tensor<2x3x2xf32>
  return %0 : tensor<2x3x2xf32>
}
