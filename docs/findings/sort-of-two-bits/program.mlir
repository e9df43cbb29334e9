func.func @main() -> tensor<4xi32> {
  %a = stablehlo.constant dense<[3, 0, 2, 1]> : tensor<4xi32>
  %b = stablehlo.optimization_barrier %a : tensor<4xi32>
  %c = stablehlo.convert %b : (tensor<4xi32>) -> tensor<4xui2>
  %0 = "stablehlo.sort"(%c) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%x: tensor<ui2>, %y: tensor<ui2>):
    %less = stablehlo.compare LT, %x, %y, UNSIGNED : (tensor<ui2>, tensor<ui2>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) : (tensor<4xui2>) -> tensor<4xui2>
  %1 = stablehlo.convert %0 : (tensor<4xui2>) -> tensor<4xi32>
  return %1 : tensor<4xi32>
}
