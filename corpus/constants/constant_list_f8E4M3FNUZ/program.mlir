func.func @main() -> (tensor<3xf8E4M3FNUZ>) {
  %0 = stablehlo.constant dense<[1.0, 2.0, 0.5]> : tensor<3xf8E4M3FNUZ>
  return %0 : tensor<3xf8E4M3FNUZ>
}
