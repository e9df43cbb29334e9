module @m {
  func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>) {
    %0 = stablehlo.negate %a {my.attr = 3 : ui16} : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
