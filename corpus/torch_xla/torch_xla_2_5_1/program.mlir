module @IrToHlo.47 attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<5xf32>, %arg1: tensor<5x8xf32>, %arg2: tensor<8xf32>, %arg3: tensor<8xf32>, %arg4: tensor<8xf32>, %arg5: tensor<8xf32>, %arg6: tensor<8xf32>, %arg7: tensor<8x3x3x3xf32>, %arg8: tensor<4x3x16x16xf32>) -> tensor<4x5xf32> {
    %cst = stablehlo.constant dense<3.906250e-03> : tensor<4x8xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<4x8x16x16xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.convolution(%arg8, %arg7) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x3x16x16xf32>, tensor<8x3x3x3xf32>) -> tensor<4x8x16x16xf32>
    %1 = stablehlo.broadcast_in_dim %arg6, dims = [1] : (tensor<8xf32>) -> tensor<4x8x16x16xf32>
    %2 = stablehlo.add %0, %1 : tensor<4x8x16x16xf32>
    %3 = "stablehlo.batch_norm_inference"(%2, %arg5, %arg4, %arg3, %arg2) <{epsilon = 9.99999974E-6 : f32, feature_index = 1 : i64}> : (tensor<4x8x16x16xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8x16x16xf32>
    %4 = stablehlo.maximum %3, %cst_0 : tensor<4x8x16x16xf32>
    %5 = stablehlo.reduce(%4 init: %cst_1) applies stablehlo.add across dimensions = [2, 3] : (tensor<4x8x16x16xf32>, tensor<f32>) -> tensor<4x8xf32>
    %6 = stablehlo.multiply %5, %cst : tensor<4x8xf32>
    %7 = stablehlo.transpose %arg1, dims = [1, 0] {result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[8,5]{0,1}"} : (tensor<5x8xf32>) -> tensor<8x5xf32>
    %8 = stablehlo.dot_general %6, %7, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
    %9 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<5xf32>) -> tensor<4x5xf32>
    %10 = stablehlo.add %8, %9 : tensor<4x5xf32>
    %11 = stablehlo.tanh %10 : tensor<4x5xf32>
    return %11 : tensor<4x5xf32>
  }
}
