func.func @main() -> tensor<3x2xi32> {
  %a = stablehlo.constant dense<0> : tensor<3x2xi32>
  %u = stablehlo.constant dense<1> : tensor<2x2xi32>
  %c = stablehlo.constant dense<2> : tensor<1xi32>
  %x, %v, %i = stablehlo.optimization_barrier %a, %u, %c : tensor<3x2xi32>, tensor<2x2xi32>, tensor<1xi32>
  %0 = "stablehlo.scatter"(%x, %i, %v) ({
  ^bb0(%p: tensor<i32>, %q: tensor<i32>):
    %s = stablehlo.add %p, %q : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0], index_vector_dim = 0>, indices_are_sorted = false, unique_indices = false} : (tensor<3x2xi32>, tensor<1xi32>, tensor<2x2xi32>) -> tensor<3x2xi32>
  return %0 : tensor<3x2xi32>
}
