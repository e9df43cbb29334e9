func.func @main(%p: tensor<i1>, %a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>, %d: tensor<4xf32>, %e: tensor<4xf32>, %f: tensor<4xf32>, %g: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0:3 = "stablehlo.if"(%p) ({
    %z = stablehlo.constant dense<0.0> : tensor<4xf32>
    stablehlo.return %z, %b, %d : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }, {
    %1 = stablehlo.negate %e : tensor<4xf32>
    %2 = stablehlo.negate %f : tensor<4xf32>
    %3 = stablehlo.negate %g : tensor<4xf32>
    stablehlo.return %3, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }) : (tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1, %0#2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
