func.func @main(%n: tensor<i32>) -> (tensor<i32>) {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %z, %acc = %z) : tensor<i32>, tensor<i32>
    cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %j = stablehlo.add %i, %one : tensor<i32>
      %s = stablehlo.add %acc, %j : tensor<i32>
      stablehlo.return %j, %s : tensor<i32>, tensor<i32>
    }
  return %0#1 : tensor<i32>
}
