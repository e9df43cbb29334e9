func.func @main(%a: tensor<4x5xf32>, %b: tensor<4x5xi32>, %i: tensor<f32>, %j: tensor<i32>) -> tensor<4xf32> {
  %0:2 = "stablehlo.reduce"(%a, %b, %i, %j) ({
  ^bb0(%x: tensor<f32>, %y: tensor<i32>, %u: tensor<f32>, %v: tensor<i32>):
    %p = stablehlo.maximum %x, %u : tensor<f32>
    %q = stablehlo.add %y, %v : tensor<i32>
    stablehlo.return %p, %q : tensor<f32>, tensor<i32>
  }) {dimensions = array<i64: 1>} : (tensor<4x5xf32>, tensor<4x5xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
  return %0#0 : tensor<4xf32>
}
