func.func @main() -> (tensor<2xi32>) {
  %a = stablehlo.iota dim = 0 : tensor<10xi32>
  %i = stablehlo.constant dense<-1> : tensor<i8>
  %j = stablehlo.optimization_barrier %i : tensor<i8>
  %0 = stablehlo.dynamic_slice %a, %j, sizes = [2] : (tensor<10xi32>, tensor<i8>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}
