func.func @main(%a: !stablehlo.future<tensor<2xi2>>) -> !stablehlo.future<tensor<2xi2>> {
  return %a : !stablehlo.future<tensor<2xi2>>
}
