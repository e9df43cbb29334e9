func.func @main(%a: tensor<5xi1>) -> (tensor<5xi1>) {
  %i = stablehlo.constant dense<false> : tensor<i1>
  %0 = "stablehlo.reduce_window"(%a, %i) ({
  ^bb0(%x: tensor<i1>, %y: tensor<i1>):
    %s = stablehlo.or %x, %y : tensor<i1>
    stablehlo.return %s : tensor<i1>
  }) {window_dimensions = array<i64: 5>, padding = dense<[[4, 0]]> : tensor<1x2xi64>} : (tensor<5xi1>, tensor<i1>) -> tensor<5xi1>
  return %0 : tensor<5xi1>
}
