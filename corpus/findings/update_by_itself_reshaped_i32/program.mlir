func.func @main(%a: tensor<8xi32>) -> (tensor<1x8xi32>) {
  %i = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.slice %a [0:7] : (tensor<8xi32>) -> tensor<7xi32>
  %1 = stablehlo.dynamic_update_slice %a, %0, %i : (tensor<8xi32>, tensor<7xi32>, tensor<i32>) -> tensor<8xi32>
  %2 = stablehlo.reshape %1 : (tensor<8xi32>) -> tensor<1x8xi32>
  return %2 : tensor<1x8xi32>
}
