func.func @main() -> (tensor<2xi32>, tensor<2xi32>) {
  %id = stablehlo.replica_id : tensor<ui32>
  %n = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
  %own = stablehlo.broadcast_in_dim %n, dims = [] : (tensor<i32>) -> tensor<2xi32>
  %ten = stablehlo.constant dense<10> : tensor<2xi32>
  %more = stablehlo.add %own, %ten : tensor<2xi32>
  %0:2 = "stablehlo.all_to_all"(%own, %more) <{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64,
    replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>)
  return %0#0, %0#1 : tensor<2xi32>, tensor<2xi32>
}
