func.func @main(%a: tensor<?x?x2xf32, #stablehlo.bounds<8, 5, ?>>) -> (tensor<?x?x2xf32, #stablehlo.bounds<8, 5, ?>>) {
  %0 = stablehlo.abs %a : tensor<?x?x2xf32, #stablehlo.bounds<8, 5, ?>>
  return %0 : tensor<?x?x2xf32, #stablehlo.bounds<8, 5, ?>>
}
