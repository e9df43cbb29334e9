func.func @main() -> tensor<1x8xi32> {
  %n = stablehlo.iota dim = 0 : tensor<8xi32>
  %a = stablehlo.optimization_barrier %n : tensor<8xi32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %part = stablehlo.slice %a [0:7] : (tensor<8xi32>) -> tensor<7xi32>
  %0 = stablehlo.dynamic_update_slice %a, %part, %one : (tensor<8xi32>, tensor<7xi32>, tensor<i32>) -> tensor<8xi32>
  %1 = stablehlo.reshape %0 : (tensor<8xi32>) -> tensor<1x8xi32>
  return %1 : tensor<1x8xi32>
}
