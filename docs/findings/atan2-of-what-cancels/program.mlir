func.func @main() -> tensor<2xf32> {
  %0 = stablehlo.replica_id : tensor<ui32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<ui32>) -> tensor<2xui32>
  %2 = stablehlo.not %1 : tensor<2xui32>
  %3 = stablehlo.and %1, %2 : tensor<2xui32>
  %4 = stablehlo.convert %3 : (tensor<2xui32>) -> tensor<2xf32>
  %5 = stablehlo.atan2 %4, %4 : tensor<2xf32>
  return %5 : tensor<2xf32>
}
