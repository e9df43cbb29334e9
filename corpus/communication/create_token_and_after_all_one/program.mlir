func.func @main() -> !stablehlo.token {
  %t = stablehlo.create_token : !stablehlo.token
  %0 = stablehlo.after_all %t : !stablehlo.token
  return %0 : !stablehlo.token
}
