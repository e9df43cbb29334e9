module @m {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func @main(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>) {
    %0 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
}
