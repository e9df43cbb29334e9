func.func @main(%p: tensor<i1>, %a: tensor<3xf32>, %b: tensor<3xf32>) -> (tensor<3xf32>) {
  %0 = "stablehlo.if"(%p) ({
    %s = stablehlo.add %a, %b : tensor<3xf32>
    stablehlo.return %s : tensor<3xf32>
  }, {
    stablehlo.return %b : tensor<3xf32>
  }) : (tensor<i1>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
