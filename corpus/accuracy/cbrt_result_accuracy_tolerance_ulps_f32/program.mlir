func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>) {
  %0 = stablehlo.cbrt %a {result_accuracy = #stablehlo.result_accuracy<ulps = 4, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
