func.func @main() -> tensor<ui32> {
  %i = stablehlo.constant dense<0> : tensor<i32>
  %a = stablehlo.constant dense<7> : tensor<ui32>
  %0:2 = stablehlo.while(%n = %i, %x = %a) : tensor<i32>, tensor<ui32>
   cond {
    %three = stablehlo.constant dense<3> : tensor<i32>
    %less = stablehlo.compare LT, %n, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %n, %one : tensor<i32>
    %here = stablehlo.replica_id : tensor<ui32>
    %sum = stablehlo.add %x, %here : tensor<ui32>
    stablehlo.return %next, %sum : tensor<i32>, tensor<ui32>
  }
  return %0#1 : tensor<ui32>
}
