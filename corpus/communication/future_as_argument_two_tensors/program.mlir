func.func @main(%a: !stablehlo.future<tensor<2xf32>, tensor<i32>>) -> !stablehlo.future<tensor<2xf32>, tensor<i32>> {
  return %a : !stablehlo.future<tensor<2xf32>, tensor<i32>>
}
