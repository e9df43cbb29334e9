module @jit_traced attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x2x4xf32>, %arg1: tensor<9x20xf32>) -> (tensor<2x5xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x5xf32>
    %1 = stablehlo.slice %arg0 [0:1, 0:2, 0:4] : (tensor<3x2x4xf32>) -> tensor<1x2x4xf32>
    %2 = stablehlo.reshape %1 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
    %3 = stablehlo.concatenate %2, %0, dim = 1 : (tensor<2x4xf32>, tensor<2x5xf32>) -> tensor<2x9xf32>
    %4 = stablehlo.dot_general %3, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x9xf32>, tensor<9x20xf32>) -> tensor<2x20xf32>
    %5 = stablehlo.slice %4 [0:2, 0:5] : (tensor<2x20xf32>) -> tensor<2x5xf32>
    %6 = stablehlo.slice %4 [0:2, 5:10] : (tensor<2x20xf32>) -> tensor<2x5xf32>
    %7 = stablehlo.slice %4 [0:2, 10:15] : (tensor<2x20xf32>) -> tensor<2x5xf32>
    %8 = stablehlo.slice %4 [0:2, 15:20] : (tensor<2x20xf32>) -> tensor<2x5xf32>
    %9 = stablehlo.negate %6 : tensor<2x5xf32>
    %10 = stablehlo.exponential %9 : tensor<2x5xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x5xf32>
    %12 = stablehlo.add %11, %10 : tensor<2x5xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x5xf32>
    %14 = stablehlo.divide %13, %12 : tensor<2x5xf32>
    %15 = stablehlo.multiply %14, %0 : tensor<2x5xf32>
    %16 = stablehlo.negate %5 : tensor<2x5xf32>
    %17 = stablehlo.exponential %16 : tensor<2x5xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x5xf32>
    %19 = stablehlo.add %18, %17 : tensor<2x5xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x5xf32>
    %21 = stablehlo.divide %20, %19 : tensor<2x5xf32>
    %22 = stablehlo.tanh %7 : tensor<2x5xf32>
    %23 = stablehlo.multiply %21, %22 : tensor<2x5xf32>
    %24 = stablehlo.add %15, %23 : tensor<2x5xf32>
    %25 = stablehlo.negate %8 : tensor<2x5xf32>
    %26 = stablehlo.exponential %25 : tensor<2x5xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x5xf32>
    %28 = stablehlo.add %27, %26 : tensor<2x5xf32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<2x5xf32>
    %30 = stablehlo.divide %29, %28 : tensor<2x5xf32>
    %31 = stablehlo.tanh %24 : tensor<2x5xf32>
    %32 = stablehlo.multiply %30, %31 : tensor<2x5xf32>
    %33 = stablehlo.slice %arg0 [1:2, 0:2, 0:4] : (tensor<3x2x4xf32>) -> tensor<1x2x4xf32>
    %34 = stablehlo.reshape %33 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
    %35 = stablehlo.concatenate %34, %32, dim = 1 : (tensor<2x4xf32>, tensor<2x5xf32>) -> tensor<2x9xf32>
    %36 = stablehlo.dot_general %35, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x9xf32>, tensor<9x20xf32>) -> tensor<2x20xf32>
    %37 = stablehlo.slice %36 [0:2, 0:5] : (tensor<2x20xf32>) -> tensor<2x5xf32>
    %38 = stablehlo.slice %36 [0:2, 5:10] : (tensor<2x20xf32>) -> tensor<2x5xf32>
    %39 = stablehlo.slice %36 [0:2, 10:15] : (tensor<2x20xf32>) -> tensor<2x5xf32>
    %40 = stablehlo.slice %36 [0:2, 15:20] : (tensor<2x20xf32>) -> tensor<2x5xf32>
    %41 = stablehlo.negate %38 : tensor<2x5xf32>
    %42 = stablehlo.exponential %41 : tensor<2x5xf32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2x5xf32>
    %44 = stablehlo.add %43, %42 : tensor<2x5xf32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %45 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<2x5xf32>
    %46 = stablehlo.divide %45, %44 : tensor<2x5xf32>
    %47 = stablehlo.multiply %46, %24 : tensor<2x5xf32>
    %48 = stablehlo.negate %37 : tensor<2x5xf32>
    %49 = stablehlo.exponential %48 : tensor<2x5xf32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<2x5xf32>
    %51 = stablehlo.add %50, %49 : tensor<2x5xf32>
    %cst_9 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %52 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<2x5xf32>
    %53 = stablehlo.divide %52, %51 : tensor<2x5xf32>
    %54 = stablehlo.tanh %39 : tensor<2x5xf32>
    %55 = stablehlo.multiply %53, %54 : tensor<2x5xf32>
    %56 = stablehlo.add %47, %55 : tensor<2x5xf32>
    %57 = stablehlo.negate %40 : tensor<2x5xf32>
    %58 = stablehlo.exponential %57 : tensor<2x5xf32>
    %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %59 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<2x5xf32>
    %60 = stablehlo.add %59, %58 : tensor<2x5xf32>
    %cst_11 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %61 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<2x5xf32>
    %62 = stablehlo.divide %61, %60 : tensor<2x5xf32>
    %63 = stablehlo.tanh %56 : tensor<2x5xf32>
    %64 = stablehlo.multiply %62, %63 : tensor<2x5xf32>
    %65 = stablehlo.slice %arg0 [2:3, 0:2, 0:4] : (tensor<3x2x4xf32>) -> tensor<1x2x4xf32>
    %66 = stablehlo.reshape %65 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
    %67 = stablehlo.concatenate %66, %64, dim = 1 : (tensor<2x4xf32>, tensor<2x5xf32>) -> tensor<2x9xf32>
    %68 = stablehlo.dot_general %67, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x9xf32>, tensor<9x20xf32>) -> tensor<2x20xf32>
    %69 = stablehlo.slice %68 [0:2, 0:5] : (tensor<2x20xf32>) -> tensor<2x5xf32>
    %70 = stablehlo.slice %68 [0:2, 5:10] : (tensor<2x20xf32>) -> tensor<2x5xf32>
    %71 = stablehlo.slice %68 [0:2, 10:15] : (tensor<2x20xf32>) -> tensor<2x5xf32>
    %72 = stablehlo.slice %68 [0:2, 15:20] : (tensor<2x20xf32>) -> tensor<2x5xf32>
    %73 = stablehlo.negate %70 : tensor<2x5xf32>
    %74 = stablehlo.exponential %73 : tensor<2x5xf32>
    %cst_12 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %75 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<2x5xf32>
    %76 = stablehlo.add %75, %74 : tensor<2x5xf32>
    %cst_13 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %77 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<2x5xf32>
    %78 = stablehlo.divide %77, %76 : tensor<2x5xf32>
    %79 = stablehlo.multiply %78, %56 : tensor<2x5xf32>
    %80 = stablehlo.negate %69 : tensor<2x5xf32>
    %81 = stablehlo.exponential %80 : tensor<2x5xf32>
    %cst_14 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %82 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<2x5xf32>
    %83 = stablehlo.add %82, %81 : tensor<2x5xf32>
    %cst_15 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %84 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<2x5xf32>
    %85 = stablehlo.divide %84, %83 : tensor<2x5xf32>
    %86 = stablehlo.tanh %71 : tensor<2x5xf32>
    %87 = stablehlo.multiply %85, %86 : tensor<2x5xf32>
    %88 = stablehlo.add %79, %87 : tensor<2x5xf32>
    %89 = stablehlo.negate %72 : tensor<2x5xf32>
    %90 = stablehlo.exponential %89 : tensor<2x5xf32>
    %cst_16 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %91 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<2x5xf32>
    %92 = stablehlo.add %91, %90 : tensor<2x5xf32>
    %cst_17 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %93 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<2x5xf32>
    %94 = stablehlo.divide %93, %92 : tensor<2x5xf32>
    %95 = stablehlo.tanh %88 : tensor<2x5xf32>
    %96 = stablehlo.multiply %94, %95 : tensor<2x5xf32>
    return %96 : tensor<2x5xf32>
  }
}
