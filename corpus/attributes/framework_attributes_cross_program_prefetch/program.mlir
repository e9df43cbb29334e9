module @jit_f attributes {mhlo.cross_program_prefetches = [], mhlo.is_dynamic = false, mhlo.use_auto_spmd_partitioning = false} {
  func.func public @main(%a: tensor<4xf32> {}) -> (tensor<4xf32> {}) {
    %0 = stablehlo.negate %a {} : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
