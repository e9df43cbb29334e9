module @jit_f attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%a: tensor<4xf32> {jax.arg_info = "x", mhlo.sharding = "{replicated}", mhlo.layout_mode = "default"}) -> (tensor<4xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.negate %a {mhlo.frontend_attributes = {a = "b"}} : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
