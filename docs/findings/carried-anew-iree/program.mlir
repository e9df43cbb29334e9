func.func @main(%a: tensor<4xf32>) -> (tensor<i1>, tensor<4xf32>) {
  %false = stablehlo.constant dense<false> : tensor<i1>
  %limit = stablehlo.constant dense<9.0> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %ones = stablehlo.constant dense<1.0> : tensor<4xf32>
  %0:2 = stablehlo.while(%done = %false, %x = %a) : tensor<i1>, tensor<4xf32>
  cond {
    %1 = stablehlo.not %done : tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
      : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %2 = stablehlo.compare GT, %1, %limit : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %3 = stablehlo.add %x, %ones : tensor<4xf32>
    stablehlo.return %2, %3 : tensor<i1>, tensor<4xf32>
  }
  return %0#0, %0#1 : tensor<i1>, tensor<4xf32>
}
