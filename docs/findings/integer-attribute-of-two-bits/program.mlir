func.func @main() attributes {x = 1 : i2} {
  return
}
