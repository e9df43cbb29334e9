func.func @main(%a: memref<4xf8E4M3>) -> memref<4xf8E4M3> {
  return %a : memref<4xf8E4M3>
}
