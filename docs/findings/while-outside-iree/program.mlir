func.func @main(%a: tensor<i32>, %b: tensor<2xf32>, %c: tensor<2xf32>) -> tensor<2xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %x = %b) : tensor<i32>, tensor<2xf32>
  cond {
    %three = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    stablehlo.return %a, %c : tensor<i32>, tensor<2xf32>
  }
  return %0#1 : tensor<2xf32>
}
