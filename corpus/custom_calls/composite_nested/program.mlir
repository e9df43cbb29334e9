func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>) {
  %0 = stablehlo.composite "my.outer" %a {decomposition = @outer} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @outer(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.composite "my.inner" %a {decomposition = @inner, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @inner(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
