module @m {
  func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.negate %a : tensor<4xf32> loc(callsite("a.py":1:2 to 3:4 at "b.py":3:4))
    return %0 : tensor<4xf32>
  }
}
