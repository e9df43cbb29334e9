func.func @main(%x: tensor<9x4xf32>) -> tensor<8x4xf32> {
  %s = stablehlo.slice %x [0:8, 0:4] : (tensor<9x4xf32>) -> tensor<8x4xf32>
  %r = "stablehlo.sort"(%s) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) {dimension = 1 : i64} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}
