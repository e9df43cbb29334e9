func.func @main() -> (tensor<3xui2>) {
  %0 = stablehlo.constant dense<[1, 0, 1]> : tensor<3xui2>
  return %0 : tensor<3xui2>
}
