module @jit_traced attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x4xf32>, %arg1: tensor<4x3xi8>, %arg2: tensor<f32>) -> (tensor<2x3xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %1 = stablehlo.divide %arg0, %0 : tensor<2x4xf32>
    %2 = call @round(%1) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %c = stablehlo.constant dense<-128> : tensor<i32>
    %c_0 = stablehlo.constant dense<127> : tensor<i32>
    %3 = call @clip(%2, %c, %c_0) : (tensor<2x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x4xf32>
    %4 = stablehlo.convert %3 : (tensor<2x4xf32>) -> tensor<2x4xi8>
    %5 = stablehlo.convert %4 : (tensor<2x4xi8>) -> tensor<2x4xi32>
    %6 = stablehlo.convert %arg1 : (tensor<4x3xi8>) -> tensor<4x3xi32>
    %7 = stablehlo.dot_general %5, %6, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x4xi32>, tensor<4x3xi32>) -> tensor<2x3xi32>
    %8 = stablehlo.convert %7 : (tensor<2x3xi32>) -> tensor<2x3xf32>
    %9 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %10 = stablehlo.multiply %8, %9 : tensor<2x3xf32>
    return %10 : tensor<2x3xf32>
  }
  func.func private @round(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %0 = stablehlo.round_nearest_even %arg0 : tensor<2x4xf32>
    return %0 : tensor<2x4xf32>
  }
  func.func private @clip(%arg0: tensor<2x4xf32>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<2x4xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %2 = stablehlo.maximum %1, %arg0 : tensor<2x4xf32>
    %3 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<f32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %5 = stablehlo.minimum %4, %2 : tensor<2x4xf32>
    return %5 : tensor<2x4xf32>
  }
}
