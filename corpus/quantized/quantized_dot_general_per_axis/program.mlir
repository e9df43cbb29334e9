func.func @main(%a: tensor<2x4x!quant.uniform<i8:f32, 2.000000e+00>>, %b: tensor<4x2x!quant.uniform<i8<-127:127>:f32:1, {1.000000e+00,3.000000e+00}>>) -> (tensor<2x2x!quant.uniform<i32:f32:1, {2.000000e+00,6.000000e+00}>>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x4x!quant.uniform<i8:f32, 2.000000e+00>>, tensor<4x2x!quant.uniform<i8<-127:127>:f32:1, {1.000000e+00,3.000000e+00}>>) -> tensor<2x2x!quant.uniform<i32:f32:1, {2.000000e+00,6.000000e+00}>>
  return %0 : tensor<2x2x!quant.uniform<i32:f32:1, {2.000000e+00,6.000000e+00}>>
}
