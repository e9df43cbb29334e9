func.func @main(%a: !stablehlo.token) -> !stablehlo.token {
  return %a : !stablehlo.token
}
