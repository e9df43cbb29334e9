func.func @main(%l: tensor<i32>, %a: tensor<4xi32>, %h: tensor<4xi32>) -> (tensor<4xi32>) {
  %0 = stablehlo.clamp %l, %a, %h : (tensor<i32>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
