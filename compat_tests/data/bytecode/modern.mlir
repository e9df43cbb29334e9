module @modern attributes {mhlo.num_replicas = 2 : i32} {
  func.func public @main(%a: tensor<4xf32>, %t: !stablehlo.token, %q: tensor<?x3x!quant.uniform<i8:f32:1, {0.5:1,0.25,0.125:-3}>>, %b: tensor<3x?xf32, #stablehlo.bounds<?, 9>>) -> (tensor<4xf32>, !stablehlo.token) {
    %0 = stablehlo.tan %a : tensor<4xf32> loc("net.py":7:3 to 9:12)
    %1 = stablehlo.exponential %0 {result_accuracy = #stablehlo.result_accuracy<atol = 1.0e-5, rtol = 0.0, ulps = 3, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32> loc("net.py":8:3)
    %2 = stablehlo.convert %1 : (tensor<4xf32>) -> tensor<4xf8E4M3> loc("net.py":9:3)
    %3 = stablehlo.convert %2 : (tensor<4xf8E4M3>) -> tensor<4xf32>
    %4 = stablehlo.custom_call @ffi(%3) {api_version = 4 : i32, backend_config = {eps = 1.000000e-05 : f32, n = 3 : i64, on = true, name = "x"}} : (tensor<4xf32>) -> tensor<4xf32>
    %5 = stablehlo.composite "lib.scale" %4 {composite_attributes = {by = 2.0 : f64}, decomposition = @scale, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
    %6:2 = "stablehlo.all_reduce"(%5, %3) ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    return %6#0, %t : tensor<4xf32>, !stablehlo.token
  }
  func.func private @scale(%v: tensor<4xf32>) -> tensor<4xf32> {
    %w = stablehlo.add %v, %v : tensor<4xf32>
    return %w : tensor<4xf32>
  }
}
