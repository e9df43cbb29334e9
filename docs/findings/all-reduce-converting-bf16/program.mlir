func.func @main(%a: tensor<4xbf16>) -> tensor<4xbf16> {
  %0 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<0> : tensor<1x1xi64>}> ({
  ^bb0(%x: tensor<bf16>, %y: tensor<bf16>):
    %1 = stablehlo.convert %x : (tensor<bf16>) -> tensor<f32>
    %2 = stablehlo.convert %y : (tensor<bf16>) -> tensor<f32>
    %3 = stablehlo.add %1, %2 : tensor<f32>
    %4 = stablehlo.convert %3 : (tensor<f32>) -> tensor<bf16>
    stablehlo.return %4 : tensor<bf16>
  }) : (tensor<4xbf16>) -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}
