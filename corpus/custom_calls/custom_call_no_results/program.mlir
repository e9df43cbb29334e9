func.func @main(%a: tensor<4xf32>) {
  stablehlo.custom_call @sink(%a) {has_side_effect = true} : (tensor<4xf32>) -> ()
  return
}
