func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %few = stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
  %kept = stablehlo.optimization_barrier %few : tensor<4xf8E4M3FN>
  %found = stablehlo.convert %kept : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
  return %found : tensor<4xf32>
}
