func.func @main() -> tensor<2xf32> {
  %c = stablehlo.constant dense<[0x7FC00000, 1.0]> : tensor<2xf32>
  %x = stablehlo.optimization_barrier %c : tensor<2xf32>
  %0 = "stablehlo.reduce_scatter"(%x) ({
   ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {scatter_dimension = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
