func.func @main(%a: tuple<!stablehlo.token, tensor<f32>>) -> tuple<!stablehlo.token, tensor<f32>> {
  return %a : tuple<!stablehlo.token, tensor<f32>>
}
