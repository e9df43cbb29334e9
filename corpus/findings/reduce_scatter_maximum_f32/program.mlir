func.func @main(%a: tensor<2xf32>) -> (tensor<2xf32>) {
  %b = stablehlo.abs %a : tensor<2xf32>
  %c = stablehlo.negate %b : tensor<2xf32>
  %0 = "stablehlo.reduce_scatter"(%c) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %m = stablehlo.maximum %x, %y : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) {replica_groups = dense<0> : tensor<1x1xi64>, scatter_dimension = 0 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
