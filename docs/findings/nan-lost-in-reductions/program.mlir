func.func @main() -> tensor<2xf32> {
  %counted = stablehlo.iota dim = 0 : tensor<4096xf32>
  %a = stablehlo.optimization_barrier %counted : tensor<4096xf32>
  %x = stablehlo.divide %a, %a : tensor<4096xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %zeros = stablehlo.constant dense<0.0> : tensor<4096xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %kept = stablehlo.optimization_barrier %x : tensor<4096xf32>
  %0 = stablehlo.reduce(%kept init: %low) applies stablehlo.maximum across dimensions = [0] : (tensor<4096xf32>, tensor<f32>) -> tensor<f32>
  %1 = stablehlo.maximum %kept, %zeros : tensor<4096xf32>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4096xf32>, tensor<f32>) -> tensor<f32>
  %3 = stablehlo.reshape %0 : (tensor<f32>) -> tensor<1xf32>
  %4 = stablehlo.reshape %2 : (tensor<f32>) -> tensor<1xf32>
  %5 = stablehlo.concatenate %3, %4, dim = 0 : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
  return %5 : tensor<2xf32>
}
