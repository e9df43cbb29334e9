func.func @main(%x: tensor<2xf32>) -> (tensor<i32>, tensor<f32>) {
  %c = stablehlo.constant dense<3> : tensor<2xi32>
  %i = stablehlo.constant dense<0> : tensor<i32>
  %f = stablehlo.constant dense<0.0> : tensor<f32>
  %0:2 = stablehlo.reduce(%c init: %i), (%x init: %f) across dimensions = [0] : (tensor<2xi32>, tensor<2xf32>, tensor<i32>, tensor<f32>) -> (tensor<i32>, tensor<f32>)
   reducer(%a: tensor<i32>, %b: tensor<i32>) (%p: tensor<f32>, %q: tensor<f32>) {
    %1 = stablehlo.add %a, %b : tensor<i32>
    %2 = stablehlo.add %p, %q : tensor<f32>
    stablehlo.return %1, %2 : tensor<i32>, tensor<f32>
  }
  return %0#0, %0#1 : tensor<i32>, tensor<f32>
}
