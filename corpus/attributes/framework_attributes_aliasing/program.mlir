module @jit_f attributes {mhlo.num_partitions = 1 : i32} {
  func.func public @main(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> (tensor<4xf32> {}) {
    %0 = stablehlo.negate %a {} : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
