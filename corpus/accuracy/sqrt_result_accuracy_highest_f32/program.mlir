func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>) {
  %0 = stablehlo.sqrt %a {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
