func.func @main(%a: tensor<i32>, %b: tensor<2xf32>, %c: tensor<2xf32>) -> (tensor<2xf32>) {
  %n = stablehlo.constant dense<3> : tensor<i32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %m = stablehlo.maximum %a, %n : tensor<i32>
  %1:2 = stablehlo.while(%i = %z, %x = %b) : tensor<i32>, tensor<2xf32>
  cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    stablehlo.return %m, %c : tensor<i32>, tensor<2xf32>
  }
  %0 = stablehlo.optimization_barrier %1#1 : tensor<2xf32>
  return %0 : tensor<2xf32>
}
