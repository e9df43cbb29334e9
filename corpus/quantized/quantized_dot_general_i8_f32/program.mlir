func.func @main(%a: tensor<2x4x!quant.uniform<i8:f32, 2.000000e+00>>, %b: tensor<4x3x!quant.uniform<i8:f32, 2.000000e+00>>) -> (tensor<2x3x!quant.uniform<i32:f32, 4.000000e+00>>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x4x!quant.uniform<i8:f32, 2.000000e+00>>, tensor<4x3x!quant.uniform<i8:f32, 2.000000e+00>>) -> tensor<2x3x!quant.uniform<i32:f32, 4.000000e+00>>
  return %0 : tensor<2x3x!quant.uniform<i32:f32, 4.000000e+00>>
}
