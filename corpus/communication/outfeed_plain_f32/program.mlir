func.func @main(%a: tensor<2x3xf32>, %t: !stablehlo.token) -> !stablehlo.token {
  %0 = "stablehlo.outfeed"(%a, %t) {} : (tensor<2x3xf32>, !stablehlo.token) -> !stablehlo.token
  return %0 : !stablehlo.token
}
