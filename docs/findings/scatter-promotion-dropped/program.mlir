func.func @main() -> tensor<4xf64> {
  %a = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %i = stablehlo.constant dense<[[1], [2]]> : tensor<2x1xi32>
  %u = stablehlo.constant dense<[5.0, 6.0]> : tensor<2xf32>
  %0:3 = stablehlo.optimization_barrier %a, %i, %u : tensor<4xf32>, tensor<2x1xi32>, tensor<2xf32>
  %1 = "stablehlo.scatter"(%0#0, %0#1, %0#2) ({
  ^bb0(%x: tensor<f64>, %y: tensor<f64>):
    %s = stablehlo.add %x, %y : tensor<f64>
    stablehlo.return %s : tensor<f64>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false} : (tensor<4xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<4xf64>
  return %1 : tensor<4xf64>
}
