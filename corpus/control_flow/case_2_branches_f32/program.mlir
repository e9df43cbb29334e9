func.func @main(%i: tensor<i32>, %a: tensor<3xf32>) -> (tensor<3xf32>) {
  %0 = "stablehlo.case"(%i) ({
    stablehlo.return %a : tensor<3xf32>
  }, {
  %n = stablehlo.add %a, %a : tensor<3xf32>
  stablehlo.return %n : tensor<3xf32>
}) : (tensor<i32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
