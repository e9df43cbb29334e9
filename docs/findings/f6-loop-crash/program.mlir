func.func @main(%x: tensor<3xf6E2M3FN>, %turns: tensor<i32>) -> tensor<3xf6E2M3FN> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = "stablehlo.while"(%x, %zero) ({
  ^bb0(%value: tensor<3xf6E2M3FN>, %turn: tensor<i32>):
    %1 = stablehlo.compare LT, %turn, %turns : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%value: tensor<3xf6E2M3FN>, %turn: tensor<i32>):
    %2 = stablehlo.reverse %value, dims = [0] : tensor<3xf6E2M3FN>
    %3 = stablehlo.add %turn, %one : tensor<i32>
    stablehlo.return %2, %3 : tensor<3xf6E2M3FN>, tensor<i32>
  }) : (tensor<3xf6E2M3FN>, tensor<i32>) -> (tensor<3xf6E2M3FN>, tensor<i32>)
  return %0#0 : tensor<3xf6E2M3FN>
}
