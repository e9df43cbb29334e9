func.func @main() -> tensor<2x1xf32> {
  %0 = stablehlo.iota dim = 0 : tensor<2x1xcomplex<f32>>
  %1 = stablehlo.abs %0 : (tensor<2x1xcomplex<f32>>) -> tensor<2x1xf32>
  return %1 : tensor<2x1xf32>
}
