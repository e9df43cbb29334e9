func.func @main(%a: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %0:2 = func.call @first(%a) : (tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %0#1, %0#0 : tensor<3xf32>, tensor<3xf32>
}
func.func public @first(%a: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %0 = func.call @second(%a) : (tensor<3xf32>) -> tensor<3xf32>
  return %0, %a : tensor<3xf32>, tensor<3xf32>
}
func.func private @second(%a: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.negate %a : tensor<3xf32>
  return %0 : tensor<3xf32>
}
