module @jit_traced attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x4xf32>, %arg1: tensor<3x4x4xf32>) -> (tensor<2x4xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.slice %arg1 [0:1, 0:4, 0:4] : (tensor<3x4x4xf32>) -> tensor<1x4x4xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x4x4xf32>) -> tensor<4x4xf32>
    %2 = stablehlo.dot_general %arg0, %1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %3 = stablehlo.tanh %2 : tensor<2x4xf32>
    %4 = stablehlo.add %arg0, %3 : tensor<2x4xf32>
    %5 = stablehlo.slice %arg1 [1:2, 0:4, 0:4] : (tensor<3x4x4xf32>) -> tensor<1x4x4xf32>
    %6 = stablehlo.reshape %5 : (tensor<1x4x4xf32>) -> tensor<4x4xf32>
    %7 = stablehlo.dot_general %4, %6, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %8 = stablehlo.tanh %7 : tensor<2x4xf32>
    %9 = stablehlo.add %4, %8 : tensor<2x4xf32>
    %10 = stablehlo.slice %arg1 [2:3, 0:4, 0:4] : (tensor<3x4x4xf32>) -> tensor<1x4x4xf32>
    %11 = stablehlo.reshape %10 : (tensor<1x4x4xf32>) -> tensor<4x4xf32>
    %12 = stablehlo.dot_general %9, %11, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %13 = stablehlo.tanh %12 : tensor<2x4xf32>
    %14 = stablehlo.add %9, %13 : tensor<2x4xf32>
    return %14 : tensor<2x4xf32>
  }
}
