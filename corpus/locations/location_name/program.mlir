module @m {
  func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.negate %a : tensor<4xf32> loc("jit(f)/neg")
    return %0 : tensor<4xf32>
  }
}
