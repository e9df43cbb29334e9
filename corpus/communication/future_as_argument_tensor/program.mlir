func.func @main(%a: !stablehlo.future<tensor<2xf32>>) -> !stablehlo.future<tensor<2xf32>> {
  return %a : !stablehlo.future<tensor<2xf32>>
}
