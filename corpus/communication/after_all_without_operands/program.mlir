func.func @main() -> !stablehlo.token {
  %0 = stablehlo.after_all : !stablehlo.token
  return %0 : !stablehlo.token
}
