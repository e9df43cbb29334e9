module @m {
  func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>) {
    %0 = stablehlo.negate %a {my.attr = dense<[1, 2]> : tensor<2xi32>} : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
