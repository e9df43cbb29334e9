func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  return %a : tensor<2xf32>
}
func.func private @elsewhere(tensor<2xf32>) -> tensor<2xf32>
