module @jit_f attributes {mhlo.num_replicas = 1 : i32} {
  func.func public @main(%a: tensor<4xf32> {jax.buffer_donor = true}) -> (tensor<4xf32> {}) {
    %0 = stablehlo.negate %a {} : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
