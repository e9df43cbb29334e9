func.func @main() -> tensor<1x2xf32> {
  %0 = stablehlo.constant dense<[[]]> : tensor<1x0xf32>
  %1 = stablehlo.constant dense<> : tensor<0x2xf32>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<1x0xf32>, tensor<0x2xf32>) -> tensor<1x2xf32>
  return %2 : tensor<1x2xf32>
}
