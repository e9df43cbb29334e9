func.func @main(%x: tensor<10xf32>, %i: tensor<i8>, %j: tensor<ui64>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = stablehlo.dynamic_slice %x, %i, sizes = [2] : (tensor<10xf32>, tensor<i8>) -> tensor<2xf32>
  %1 = stablehlo.dynamic_slice %x, %j, sizes = [2] : (tensor<10xf32>, tensor<ui64>) -> tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}
