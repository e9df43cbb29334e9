func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %five = stablehlo.constant dense<5> : tensor<i32>
  %constant = stablehlo.constant dense<0> : tensor<ui32>
  %computed = stablehlo.convert %zero : (tensor<i32>) -> tensor<ui32>
  %wide = stablehlo.constant dense<0> : tensor<4xui64>
  %begin = stablehlo.convert %wide : (tensor<4xui64>) -> tensor<4xui32>
  %all:5 = stablehlo.while(%i = %zero, %k = %zero, %sum = %begin, %a = %constant, %b = %computed) : tensor<i32>, tensor<i32>, tensor<4xui32>, tensor<ui32>, tensor<ui32>
   cond {
    %more = stablehlo.compare LT, %i, %five, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %row = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<ui32>) -> tensor<4xui32>
    %added = stablehlo.add %sum, %row : tensor<4xui32>
    %l = stablehlo.add %k, %one : tensor<i32>
    stablehlo.return %j, %l, %added, %b, %a : tensor<i32>, tensor<i32>, tensor<4xui32>, tensor<ui32>, tensor<ui32>
  }
  %found = stablehlo.convert %all#2 : (tensor<4xui32>) -> tensor<4xf32>
  %result = stablehlo.add %x, %found : tensor<4xf32>
  return %result : tensor<4xf32>
}
