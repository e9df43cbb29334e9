func.func @main(%a: tensor<?x3xf32, #stablehlo.bounds<8, ?>>) -> (tensor<?x3xf32, #stablehlo.bounds<8, ?>>) {
  %0 = stablehlo.add %a, %a : tensor<?x3xf32, #stablehlo.bounds<8, ?>>
  return %0 : tensor<?x3xf32, #stablehlo.bounds<8, ?>>
}
