func.func @main(%a: tensor<4xf32>) -> tensor<4xi32> {
  %few = stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xf4E2M1FN>
  %whole = stablehlo.convert %few : (tensor<4xf4E2M1FN>) -> tensor<4xi32>
  return %whole : tensor<4xi32>
}
