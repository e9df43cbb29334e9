func.func @main(%a: tensor<7xui8>) -> tensor<7xui8> {
  %i = stablehlo.constant dense<0> : tensor<ui8>
  %0 = "stablehlo.reduce_window"(%a, %i) ({
  ^bb0(%x: tensor<ui8>, %y: tensor<ui8>):
    %s = stablehlo.add %x, %y : tensor<ui8>
    stablehlo.return %s : tensor<ui8>
  }) {window_dimensions = array<i64: 7>, padding = dense<[[6, 0]]> : tensor<1x2xi64>} : (tensor<7xui8>, tensor<ui8>) -> tensor<7xui8>
  return %0 : tensor<7xui8>
}
