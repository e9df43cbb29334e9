func.func @main(%a: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.composite"(%a) ({
  ^bb0(%x: tensor<f32>):
    %1 = "stablehlo.tanh"(%x) : (tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%1) : (tensor<f32>) -> ()
  }) {name = "my.op", decomposition = @impl, version = 1 : i32} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @impl(%a: tensor<f32>) -> tensor<f32> {
  return %a : tensor<f32>
}
