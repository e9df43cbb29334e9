func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>) {
  %0 = stablehlo.composite "my.op" %a {composite_attributes = {d = {e = [1 : i64, 2 : i64]}, t = dense<1> : tensor<2xi8>}, decomposition = @impl} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @impl(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
