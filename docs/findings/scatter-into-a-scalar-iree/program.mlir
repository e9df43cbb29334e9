func.func @main(%a: tensor<f32>, %u: tensor<f32>) -> tensor<f32> {
  %i = stablehlo.constant dense<> : tensor<0xi32>
  %0 = "stablehlo.scatter"(%a, %i, %u) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<index_vector_dim = 0>, indices_are_sorted = false, unique_indices = false} : (tensor<f32>, tensor<0xi32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
