module @jit_traced attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x3xf32>) -> (tensor<4x4xf32> {jax.result_info = "result[0]"}, tensor<4x3xf32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<true> : tensor<4xi1>
    %cst = stablehlo.constant dense<[1.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00]> : tensor<4xf32>
    %c_0 = stablehlo.constant dense<[false, true, true, true]> : tensor<4xi1>
    %cst_1 = stablehlo.constant dense<[0.000000e+00, 1.000000e+00, 0.000000e+00, 0.000000e+00]> : tensor<4xf32>
    %c_2 = stablehlo.constant dense<[false, false, true, true]> : tensor<4xi1>
    %cst_3 = stablehlo.constant dense<[0.000000e+00, 0.000000e+00, 1.000000e+00, 0.000000e+00]> : tensor<4xf32>
    %0 = stablehlo.iota dim = 0 : tensor<4x4xi32>
    %1 = stablehlo.iota dim = 1 : tensor<4x4xi32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<4x4xi32>
    %3 = stablehlo.add %0, %2 : tensor<4x4xi32>
    %4 = stablehlo.compare EQ, %3, %1, SIGNED : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
    %5 = stablehlo.convert %4 : (tensor<4x4xi1>) -> tensor<4x4xf32>
    %6 = stablehlo.slice %arg0 [0:4, 0:1] : (tensor<4x3xf32>) -> tensor<4x1xf32>
    %7 = stablehlo.reshape %6 : (tensor<4x1xf32>) -> tensor<4xf32>
    %8 = stablehlo.convert %c : (tensor<4xi1>) -> tensor<4xf32>
    %9 = stablehlo.multiply %7, %8 : tensor<4xf32>
    %10 = stablehlo.slice %arg0 [0:1, 0:1] : (tensor<4x3xf32>) -> tensor<1x1xf32>
    %11 = stablehlo.reshape %10 : (tensor<1x1xf32>) -> tensor<f32>
    %12 = stablehlo.sign %11 : tensor<f32>
    %13 = stablehlo.multiply %9, %9 : tensor<4xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.reduce(%13 init: %cst_5) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %15 = stablehlo.sqrt %14 : tensor<f32>
    %16 = stablehlo.multiply %12, %15 : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %18 = stablehlo.multiply %17, %cst : tensor<4xf32>
    %19 = stablehlo.add %9, %18 : tensor<4xf32>
    %20 = stablehlo.multiply %19, %19 : tensor<4xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %21 = stablehlo.reduce(%20 init: %cst_6) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %22 = stablehlo.sqrt %21 : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %24 = stablehlo.divide %19, %23 : tensor<4xf32>
    %25 = stablehlo.dot_general %24, %arg0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4xf32>, tensor<4x3xf32>) -> tensor<3xf32>
    %26 = stablehlo.broadcast_in_dim %24, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %27 = stablehlo.broadcast_in_dim %25, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %28 = stablehlo.broadcast_in_dim %26, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x3xf32>
    %29 = stablehlo.broadcast_in_dim %27, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<4x3xf32>
    %30 = stablehlo.multiply %28, %29 : tensor<4x3xf32>
    %cst_7 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %32 = stablehlo.multiply %31, %30 : tensor<4x3xf32>
    %33 = stablehlo.subtract %arg0, %32 : tensor<4x3xf32>
    %34 = stablehlo.dot_general %5, %24, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %35 = stablehlo.broadcast_in_dim %34, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %36 = stablehlo.broadcast_in_dim %24, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
    %37 = stablehlo.broadcast_in_dim %35, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x4xf32>
    %38 = stablehlo.broadcast_in_dim %36, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<4x4xf32>
    %39 = stablehlo.multiply %37, %38 : tensor<4x4xf32>
    %cst_8 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
    %41 = stablehlo.multiply %40, %39 : tensor<4x4xf32>
    %42 = stablehlo.subtract %5, %41 : tensor<4x4xf32>
    %43 = stablehlo.slice %33 [0:4, 1:2] : (tensor<4x3xf32>) -> tensor<4x1xf32>
    %44 = stablehlo.reshape %43 : (tensor<4x1xf32>) -> tensor<4xf32>
    %45 = stablehlo.convert %c_0 : (tensor<4xi1>) -> tensor<4xf32>
    %46 = stablehlo.multiply %44, %45 : tensor<4xf32>
    %47 = stablehlo.slice %33 [1:2, 1:2] : (tensor<4x3xf32>) -> tensor<1x1xf32>
    %48 = stablehlo.reshape %47 : (tensor<1x1xf32>) -> tensor<f32>
    %49 = stablehlo.sign %48 : tensor<f32>
    %50 = stablehlo.multiply %46, %46 : tensor<4xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %51 = stablehlo.reduce(%50 init: %cst_9) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %52 = stablehlo.sqrt %51 : tensor<f32>
    %53 = stablehlo.multiply %49, %52 : tensor<f32>
    %54 = stablehlo.broadcast_in_dim %53, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %55 = stablehlo.multiply %54, %cst_1 : tensor<4xf32>
    %56 = stablehlo.add %46, %55 : tensor<4xf32>
    %57 = stablehlo.multiply %56, %56 : tensor<4xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %58 = stablehlo.reduce(%57 init: %cst_10) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %59 = stablehlo.sqrt %58 : tensor<f32>
    %60 = stablehlo.broadcast_in_dim %59, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %61 = stablehlo.divide %56, %60 : tensor<4xf32>
    %62 = stablehlo.dot_general %61, %33, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4xf32>, tensor<4x3xf32>) -> tensor<3xf32>
    %63 = stablehlo.broadcast_in_dim %61, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %64 = stablehlo.broadcast_in_dim %62, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %65 = stablehlo.broadcast_in_dim %63, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x3xf32>
    %66 = stablehlo.broadcast_in_dim %64, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<4x3xf32>
    %67 = stablehlo.multiply %65, %66 : tensor<4x3xf32>
    %cst_11 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %68 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %69 = stablehlo.multiply %68, %67 : tensor<4x3xf32>
    %70 = stablehlo.subtract %33, %69 : tensor<4x3xf32>
    %71 = stablehlo.dot_general %42, %61, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %72 = stablehlo.broadcast_in_dim %71, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %73 = stablehlo.broadcast_in_dim %61, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
    %74 = stablehlo.broadcast_in_dim %72, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x4xf32>
    %75 = stablehlo.broadcast_in_dim %73, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<4x4xf32>
    %76 = stablehlo.multiply %74, %75 : tensor<4x4xf32>
    %cst_12 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %77 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
    %78 = stablehlo.multiply %77, %76 : tensor<4x4xf32>
    %79 = stablehlo.subtract %42, %78 : tensor<4x4xf32>
    %80 = stablehlo.slice %70 [0:4, 2:3] : (tensor<4x3xf32>) -> tensor<4x1xf32>
    %81 = stablehlo.reshape %80 : (tensor<4x1xf32>) -> tensor<4xf32>
    %82 = stablehlo.convert %c_2 : (tensor<4xi1>) -> tensor<4xf32>
    %83 = stablehlo.multiply %81, %82 : tensor<4xf32>
    %84 = stablehlo.slice %70 [2:3, 2:3] : (tensor<4x3xf32>) -> tensor<1x1xf32>
    %85 = stablehlo.reshape %84 : (tensor<1x1xf32>) -> tensor<f32>
    %86 = stablehlo.sign %85 : tensor<f32>
    %87 = stablehlo.multiply %83, %83 : tensor<4xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %88 = stablehlo.reduce(%87 init: %cst_13) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %89 = stablehlo.sqrt %88 : tensor<f32>
    %90 = stablehlo.multiply %86, %89 : tensor<f32>
    %91 = stablehlo.broadcast_in_dim %90, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %92 = stablehlo.multiply %91, %cst_3 : tensor<4xf32>
    %93 = stablehlo.add %83, %92 : tensor<4xf32>
    %94 = stablehlo.multiply %93, %93 : tensor<4xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %95 = stablehlo.reduce(%94 init: %cst_14) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %96 = stablehlo.sqrt %95 : tensor<f32>
    %97 = stablehlo.broadcast_in_dim %96, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %98 = stablehlo.divide %93, %97 : tensor<4xf32>
    %99 = stablehlo.dot_general %98, %70, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4xf32>, tensor<4x3xf32>) -> tensor<3xf32>
    %100 = stablehlo.broadcast_in_dim %98, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %101 = stablehlo.broadcast_in_dim %99, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %102 = stablehlo.broadcast_in_dim %100, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x3xf32>
    %103 = stablehlo.broadcast_in_dim %101, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<4x3xf32>
    %104 = stablehlo.multiply %102, %103 : tensor<4x3xf32>
    %cst_15 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %105 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %106 = stablehlo.multiply %105, %104 : tensor<4x3xf32>
    %107 = stablehlo.subtract %70, %106 : tensor<4x3xf32>
    %108 = stablehlo.dot_general %79, %98, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %109 = stablehlo.broadcast_in_dim %108, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %110 = stablehlo.broadcast_in_dim %98, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
    %111 = stablehlo.broadcast_in_dim %109, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x4xf32>
    %112 = stablehlo.broadcast_in_dim %110, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<4x4xf32>
    %113 = stablehlo.multiply %111, %112 : tensor<4x4xf32>
    %cst_16 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %114 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
    %115 = stablehlo.multiply %114, %113 : tensor<4x4xf32>
    %116 = stablehlo.subtract %79, %115 : tensor<4x4xf32>
    return %116, %107 : tensor<4x4xf32>, tensor<4x3xf32>
  }
}
