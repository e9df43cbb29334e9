func.func @main(%a: tensor<1xi32>, %u: tensor<3x1xi32>) -> (tensor<1xi32>) {
  %i = stablehlo.constant dense<> : tensor<3x0xi32>
  %0 = stablehlo.add %u, %u : tensor<3x1xi32>
  %1 = "stablehlo.scatter"(%a, %i, %0) ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %s = stablehlo.add %x, %y : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false} : (tensor<1xi32>, tensor<3x0xi32>, tensor<3x1xi32>) -> tensor<1xi32>
  return %1 : tensor<1xi32>
}
