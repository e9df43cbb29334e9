func.func @main() -> tensor<4xi4> {
  %0 = stablehlo.constant dense<[1, -2, 3, -4]> : tensor<4xi4>
  return %0 : tensor<4xi4>
}
