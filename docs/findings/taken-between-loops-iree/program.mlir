func.func private @halves(%x: tensor<7x6xf32>) -> tensor<7x6xf32> {
  %zeros = stablehlo.constant dense<0.0> : tensor<7x6xf32>
  %half = stablehlo.constant dense<0.5> : tensor<1x6xf32>
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %c7 = stablehlo.constant dense<7> : tensor<i32>
  %r:2 = stablehlo.while(%i = %c0, %y = %zeros) : tensor<i32>, tensor<7x6xf32>
  cond {
    %less = stablehlo.compare LT, %i, %c7 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  } do {
    %row = stablehlo.dynamic_slice %x, %i, %c0, sizes = [1, 6] : (tensor<7x6xf32>, tensor<i32>, tensor<i32>) -> tensor<1x6xf32>
    %one = stablehlo.multiply %row, %half : tensor<1x6xf32>
    %next = stablehlo.dynamic_update_slice %y, %one, %i, %c0 : (tensor<7x6xf32>, tensor<1x6xf32>, tensor<i32>, tensor<i32>) -> tensor<7x6xf32>
    %j = stablehlo.add %i, %c1 : tensor<i32>
    stablehlo.return %j, %next : tensor<i32>, tensor<7x6xf32>
  }
  return %r#1 : tensor<7x6xf32>
}
func.func @main(%x: tensor<7x6xf32>, %z: tensor<7x6xf32>) -> (tensor<7x6xf32>, tensor<7x6xf32>) {
  %a = call @halves(%x) : (tensor<7x6xf32>) -> tensor<7x6xf32>
  %negative = stablehlo.negate %a : tensor<7x6xf32>
  %b = call @halves(%z) : (tensor<7x6xf32>) -> tensor<7x6xf32>
  return %negative, %b : tensor<7x6xf32>, tensor<7x6xf32>
}
