func.func @main() -> tensor<1xi32> {
  %0 = stablehlo.constant dense<200> : tensor<ui8>
  %1 = stablehlo.iota dim = 0 : tensor<300xi32>
  %2 = stablehlo.dynamic_slice %1, %0, sizes = [1] : (tensor<300xi32>, tensor<ui8>) -> tensor<1xi32>
  return %2 : tensor<1xi32>
}
