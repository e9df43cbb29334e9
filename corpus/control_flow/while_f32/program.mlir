func.func @main(%n: tensor<f32>) -> (tensor<f32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %0:2 = stablehlo.while(%i = %z, %acc = %z) : tensor<f32>, tensor<f32>
    cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %j = stablehlo.add %i, %one : tensor<f32>
      %s = stablehlo.add %acc, %j : tensor<f32>
      stablehlo.return %j, %s : tensor<f32>, tensor<f32>
    }
  return %0#1 : tensor<f32>
}
