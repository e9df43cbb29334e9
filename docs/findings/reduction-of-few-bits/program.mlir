func.func @main(%a: tensor<5xi4>) -> tensor<5xi4> {
  %0 = "stablehlo.all_reduce"(%a) ({
  ^bb0(%x: tensor<i4>, %y: tensor<i4>):
    %s = stablehlo.add %x, %y : tensor<i4>
    stablehlo.return %s : tensor<i4>
  }) {replica_groups = dense<0> : tensor<1x1xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>} : (tensor<5xi4>) -> tensor<5xi4>
  return %0 : tensor<5xi4>
}
