func.func @main(%a: tensor<6xf32>) -> (tensor<6xf32>) {
  %0 = "stablehlo.sort"(%a) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %c = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) {dimension = 0 : i64, is_stable = false} : (tensor<6xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}
