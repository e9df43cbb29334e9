func.func @main() -> tensor<1xi32> {
  %n = stablehlo.iota dim = 0 : tensor<10xi32>
  %nine = stablehlo.constant dense<9> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %a, %i, %j = stablehlo.optimization_barrier %n, %nine, %zero : tensor<10xi32>, tensor<i32>, tensor<i32>
  %0 = stablehlo.dynamic_slice %a, %i, sizes = [4] : (tensor<10xi32>, tensor<i32>) -> tensor<4xi32>
  %1 = stablehlo.dynamic_slice %0, %j, sizes = [1] : (tensor<4xi32>, tensor<i32>) -> tensor<1xi32>
  return %1 : tensor<1xi32>
}
