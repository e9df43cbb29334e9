func.func @main(%arg0: tensor<1x1xf32>, %arg1: tensor<1x1x1xi32>) -> tensor<1x1xf32> {
  %0 = "stablehlo.scatter"(%arg0, %arg1, %arg0) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
  ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
    %1 = stablehlo.add %arg2, %arg3 : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<1x1xf32>, tensor<1x1x1xi32>, tensor<1x1xf32>) -> tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
}
