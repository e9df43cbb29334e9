module @m {
  func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.negate %a : tensor<4xf32> loc("op"(callsite(fused["a.py":1:2, "n"] at "c"("d.py":5:6))))
    return %0 : tensor<4xf32>
  }
}
