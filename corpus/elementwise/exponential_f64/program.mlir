func.func @main(%a: tensor<4xf64>) -> (tensor<4xf64>) {
  %0 = stablehlo.exponential %a : tensor<4xf64>
  return %0 : tensor<4xf64>
}
