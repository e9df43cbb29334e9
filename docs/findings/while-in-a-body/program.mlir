func.func @main(%a: tensor<7xf32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce"(%a, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %one = stablehlo.constant dense<1.0> : tensor<f32>
    %sum = stablehlo.add %x, %y : tensor<f32>
    %halved = stablehlo.while(%v = %sum) : tensor<f32> cond {
      %more = stablehlo.compare GT, %v, %one : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %half = stablehlo.constant dense<0.5> : tensor<f32>
      %next = stablehlo.multiply %v, %half : tensor<f32>
      stablehlo.return %next : tensor<f32>
    }
    stablehlo.return %halved : tensor<f32>
  }) : (tensor<7xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
