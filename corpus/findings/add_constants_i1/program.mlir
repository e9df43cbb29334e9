func.func @main() -> (tensor<2xi1>) {
  %a = stablehlo.constant dense<true> : tensor<2xi1>
  %b = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %0 = stablehlo.add %a, %b : tensor<2xi1>
  return %0 : tensor<2xi1>
}
