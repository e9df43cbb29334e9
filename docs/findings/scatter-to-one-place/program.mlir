func.func @main() -> tensor<1xi32> {
  %a = stablehlo.constant dense<1> : tensor<1xi32>
  %u = stablehlo.constant dense<[[2], [3], [4]]> : tensor<3x1xi32>
  %b, %v = stablehlo.optimization_barrier %a, %u : tensor<1xi32>, tensor<3x1xi32>
  %i = stablehlo.constant dense<> : tensor<3x0xi32>
  %0 = stablehlo.add %v, %v : tensor<3x1xi32>
  %1 = "stablehlo.scatter"(%b, %i, %0) ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %s = stablehlo.add %x, %y : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false} : (tensor<1xi32>, tensor<3x0xi32>, tensor<3x1xi32>) -> tensor<1xi32>
  return %1 : tensor<1xi32>
}
