module @classic attributes {mhlo.num_partitions = 1 : i32} {
  func.func public @main(%x: tensor<4x8xf32> {mhlo.sharding = "{replicated}"} loc("model.py":3:9), %w: tensor<8x2xf32>) -> (tensor<4xf32> {jax.result_info = "loss"}, tensor<i32>) {
    %h = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32> loc("model.py":4:11)
    %t = stablehlo.tanh %h : tensor<4x2xf32> loc(callsite("act"("act.py":10:1) at "model.py":5:2))
    %z = stablehlo.constant dense<0.0> : tensor<f32> loc(unknown)
    %b = stablehlo.constant dense<[[1.5, -2.5], [0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]> : tensor<4x2xf32> loc(fused["a.py":1:2, "b.py":3:4])
    %s = stablehlo.add %t, %b {mhlo.frontend_attributes = {tag = "bias"}} : tensor<4x2xf32> loc("bias"("model.py":6:1))
    %r = "stablehlo.reduce"(%s, %z) ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %m = stablehlo.maximum %p, %q : tensor<f32>
      stablehlo.return %m : tensor<f32>
    }) {dimensions = array<i64: 1>} : (tensor<4x2xf32>, tensor<f32>) -> tensor<4xf32>
    %i0 = stablehlo.constant dense<0> : tensor<i32>
    %l:2 = "stablehlo.while"(%i0, %r) ({
    ^bb0(%i: tensor<i32>, %a: tensor<4xf32>):
      %n = stablehlo.constant dense<3> : tensor<i32>
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }, {
    ^bb0(%i: tensor<i32>, %a: tensor<4xf32>):
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %d = stablehlo.add %a, %a : tensor<4xf32>
      stablehlo.return %j, %d : tensor<i32>, tensor<4xf32>
    }) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>)
    %e = func.call @twice(%l#1) : (tensor<4xf32>) -> tensor<4xf32>
    return %e, %l#0 : tensor<4xf32>, tensor<i32>
  }
  func.func private @twice(%v: tensor<4xf32>) -> tensor<4xf32> {
    %u = stablehlo.custom_call @host_twice(%v) {backend_config = "opaque"} : (tensor<4xf32>) -> tensor<4xf32>
    return %u : tensor<4xf32>
  }
}
