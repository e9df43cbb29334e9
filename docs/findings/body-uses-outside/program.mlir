func.func @main(%a: tensor<4xf32>, %b: tensor<f32>) -> tensor<f32> {
  %i = stablehlo.constant dense<-4.0> : tensor<f32>
  %0 = "stablehlo.reduce"(%a, %i) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.maximum %x, %y : tensor<f32>
    %t = stablehlo.maximum %s, %b : tensor<f32>
    stablehlo.return %t : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
