func.func @main(%a: tensor<3xui2>) -> tensor<4xui2> {
  %i = stablehlo.constant dense<1> : tensor<ui2>
  %0 = stablehlo.pad %a, %i, low = [1], high = [0], interior = [0] : (tensor<3xui2>, tensor<ui2>) -> tensor<4xui2>
  return %0 : tensor<4xui2>
}
