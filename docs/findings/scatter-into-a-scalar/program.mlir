func.func @main(%a: tensor<f32>, %i: tensor<3x0xi32>, %u: tensor<3xf32>) -> tensor<f32> {
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %1 = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<f32>, tensor<3x0xi32>, tensor<3xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
