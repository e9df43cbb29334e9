func.func @main(%a: tensor<3xi32>) -> (tensor<3xi32>, tensor<3xi32>) {
  %0 = "stablehlo.sort"(%a) <{dimension = 0 : i64}> ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %1 = stablehlo.compare LT, %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<3xi32>) -> tensor<3xi32>
  return %a, %0 : tensor<3xi32>, tensor<3xi32>
}
