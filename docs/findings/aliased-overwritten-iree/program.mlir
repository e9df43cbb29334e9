func.func @main(%a: tensor<3xi32> {tf.aliasing_output = 0 : i32}, %b: tensor<3xi32> {tf.aliasing_output = 1 : i32}) -> (tensor<3xi32>, tensor<3xi32>) {
  return %b, %a : tensor<3xi32>, tensor<3xi32>
}
