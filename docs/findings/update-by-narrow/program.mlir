func.func @main() -> (tensor<300xf32>, tensor<300xf32>) {
  %zeros = stablehlo.constant dense<0.0> : tensor<300xf32>
  %ones = stablehlo.constant dense<1.0> : tensor<1xf32>
  %at = stablehlo.constant dense<100> : tensor<i8>
  %x, %i = stablehlo.optimization_barrier %zeros, %at : tensor<300xf32>, tensor<i8>
  %0 = stablehlo.dynamic_update_slice %x, %ones, %i : (tensor<300xf32>, tensor<1xf32>, tensor<i8>) -> tensor<300xf32>
  %indices = stablehlo.reshape %i : (tensor<i8>) -> tensor<1x1xi8>
  %1 = "stablehlo.scatter"(%x, %indices, %ones) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<300xf32>, tensor<1x1xi8>, tensor<1xf32>) -> tensor<300xf32>
  return %0, %1 : tensor<300xf32>, tensor<300xf32>
}
