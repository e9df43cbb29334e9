func.func @main(%a: tensor<4x5xi8>, %i: tensor<i8>) -> (tensor<4xi32>) {
  %0 = "stablehlo.reduce"(%a, %i) ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %s = stablehlo.add %x, %y : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {dimensions = array<i64: 1>} : (tensor<4x5xi8>, tensor<i8>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
