func.func @main(%a: tensor<?xf32>, %s: tensor<1xi32>, %l: tensor<1xi32>, %d: tensor<1xi32>) -> (tensor<?xf32>) {
  %0 = stablehlo.real_dynamic_slice %a, %s, %l, %d : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
