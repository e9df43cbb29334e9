func.func @main() -> tensor<64xi2> {
  %a = stablehlo.iota dim = 0 : tensor<64xi8>
  %0 = stablehlo.convert %a : (tensor<64xi8>) -> tensor<64xi2>
  return %0 : tensor<64xi2>
}
