func.func @main(%x: tensor<1xcomplex<f32>>) -> tensor<1xf32> {
  %0 = stablehlo.abs %x : (tensor<1xcomplex<f32>>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
