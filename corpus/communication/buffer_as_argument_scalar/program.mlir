func.func @main(%a: memref<f32>) -> memref<f32> {
  return %a : memref<f32>
}
