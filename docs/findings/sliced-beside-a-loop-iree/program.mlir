module {
  func.func @main(%arg0: tensor<8xui32>) -> tensor<ui32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %c_1 = stablehlo.constant dense<8> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<ui32>
    %c_3 = stablehlo.constant dense<1> : tensor<ui32>
    %c_4 = stablehlo.constant dense<3988292384> : tensor<ui32>
    %c_5 = stablehlo.constant dense<4294967295> : tensor<ui32>
    %0:3 = stablehlo.while(%iterArg = %c, %iterArg_6 = %c, %iterArg_7 = %c_5) : tensor<i32>, tensor<i32>, tensor<ui32>
    cond {
      %2 = stablehlo.compare LT, %iterArg, %c_1 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %2 = stablehlo.add %iterArg, %c_0 : tensor<i32>
      %3 = stablehlo.add %iterArg_6, %c_0 : tensor<i32>
      %4 = stablehlo.add %iterArg_6, %c : tensor<i32>
      %5 = stablehlo.dynamic_slice %arg0, %4, sizes = [1] : (tensor<8xui32>, tensor<i32>) -> tensor<1xui32>
      %6 = stablehlo.reshape %5 : (tensor<1xui32>) -> tensor<ui32>
      %7 = stablehlo.xor %iterArg_7, %6 : tensor<ui32>
      %8:2 = stablehlo.while(%iterArg_8 = %c, %iterArg_9 = %7) : tensor<i32>, tensor<ui32>
      cond {
        %9 = stablehlo.compare LT, %iterArg_8, %c_1 : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %9 : tensor<i1>
      } do {
        %9 = stablehlo.add %iterArg_8, %c_0 : tensor<i32>
        %10 = stablehlo.and %iterArg_9, %c_3 : tensor<ui32>
        %11 = stablehlo.shift_right_logical %iterArg_9, %c_3 : tensor<ui32>
        %12 = stablehlo.xor %11, %c_4 : tensor<ui32>
        %13 = stablehlo.compare NE, %10, %c_2 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
        %14 = stablehlo.select %13, %12, %11 : tensor<i1>, tensor<ui32>
        stablehlo.return %9, %14 : tensor<i32>, tensor<ui32>
      }
      stablehlo.return %2, %3, %8#1 : tensor<i32>, tensor<i32>, tensor<ui32>
    }
    %1 = stablehlo.xor %0#2, %c_5 : tensor<ui32>
    return %1 : tensor<ui32>
  }
}
