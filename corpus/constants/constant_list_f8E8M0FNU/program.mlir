func.func @main() -> (tensor<3xf8E8M0FNU>) {
  %0 = stablehlo.constant dense<[1.0, 2.0, 0.5]> : tensor<3xf8E8M0FNU>
  return %0 : tensor<3xf8E8M0FNU>
}
