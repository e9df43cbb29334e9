func.func @main(%a: memref<2x3xi1>) -> memref<2x3xi1> {
  return %a : memref<2x3xi1>
}
