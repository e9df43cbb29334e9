func.func @main() -> tensor<2x4xi32> {
  %c0 = stablehlo.constant dense<[[3, 1, 2, 0], [0, 4, 1, 5]]> : tensor<2x4xi32>
  %c1 = stablehlo.constant dense<[[3, 1, 2, 1], [1, 4, 1, 5]]> : tensor<2x4xi32>
  %c2 = stablehlo.constant dense<[[3, 1, 2, 2], [2, 4, 1, 5]]> : tensor<2x4xi32>
  %c3 = stablehlo.constant dense<[[3, 1, 2, 3], [3, 4, 1, 5]]> : tensor<2x4xi32>
  %c4 = stablehlo.constant dense<[[3, 1, 2, 4], [4, 4, 1, 5]]> : tensor<2x4xi32>
  %c5 = stablehlo.constant dense<[[3, 1, 2, 5], [5, 4, 1, 5]]> : tensor<2x4xi32>
  %c6 = stablehlo.constant dense<[[3, 1, 2, 6], [6, 4, 1, 5]]> : tensor<2x4xi32>
  %c7 = stablehlo.constant dense<[[3, 1, 2, 7], [7, 4, 1, 5]]> : tensor<2x4xi32>
  %c8 = stablehlo.constant dense<[[3, 1, 2, 8], [8, 4, 1, 5]]> : tensor<2x4xi32>
  %c9 = stablehlo.constant dense<[[3, 1, 2, 9], [9, 4, 1, 5]]> : tensor<2x4xi32>
  %c10 = stablehlo.constant dense<[[3, 1, 2, 10], [10, 4, 1, 5]]> : tensor<2x4xi32>
  %c11 = stablehlo.constant dense<[[3, 1, 2, 11], [11, 4, 1, 5]]> : tensor<2x4xi32>
  %c12 = stablehlo.constant dense<[[3, 1, 2, 12], [12, 4, 1, 5]]> : tensor<2x4xi32>
  %c13 = stablehlo.constant dense<[[3, 1, 2, 13], [13, 4, 1, 5]]> : tensor<2x4xi32>
  %c14 = stablehlo.constant dense<[[3, 1, 2, 14], [14, 4, 1, 5]]> : tensor<2x4xi32>
  %c15 = stablehlo.constant dense<[[3, 1, 2, 15], [15, 4, 1, 5]]> : tensor<2x4xi32>
  %c16 = stablehlo.constant dense<[[3, 1, 2, 16], [16, 4, 1, 5]]> : tensor<2x4xi32>
  %x0, %x1, %x2, %x3, %x4, %x5, %x6, %x7, %x8, %x9, %x10, %x11, %x12, %x13, %x14, %x15, %x16 = stablehlo.optimization_barrier %c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7, %c8, %c9, %c10, %c11, %c12, %c13, %c14, %c15, %c16 : tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>
  %s:17 = "stablehlo.sort"(%x0, %x1, %x2, %x3, %x4, %x5, %x6, %x7, %x8, %x9, %x10, %x11, %x12, %x13, %x14, %x15, %x16) ({
  ^bb0(%p0: tensor<i32>, %p1: tensor<i32>, %p2: tensor<i32>, %p3: tensor<i32>, %p4: tensor<i32>, %p5: tensor<i32>, %p6: tensor<i32>, %p7: tensor<i32>, %p8: tensor<i32>, %p9: tensor<i32>, %p10: tensor<i32>, %p11: tensor<i32>, %p12: tensor<i32>, %p13: tensor<i32>, %p14: tensor<i32>, %p15: tensor<i32>, %p16: tensor<i32>, %p17: tensor<i32>, %p18: tensor<i32>, %p19: tensor<i32>, %p20: tensor<i32>, %p21: tensor<i32>, %p22: tensor<i32>, %p23: tensor<i32>, %p24: tensor<i32>, %p25: tensor<i32>, %p26: tensor<i32>, %p27: tensor<i32>, %p28: tensor<i32>, %p29: tensor<i32>, %p30: tensor<i32>, %p31: tensor<i32>, %p32: tensor<i32>, %p33: tensor<i32>):
    %c = stablehlo.compare LT, %p0, %p1 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) {dimension = 1 : i64, is_stable = true} : (tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>) -> (tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>)
  %t1 = stablehlo.add %s#0, %s#1 : tensor<2x4xi32>
  %t2 = stablehlo.add %t1, %s#2 : tensor<2x4xi32>
  %t3 = stablehlo.add %t2, %s#3 : tensor<2x4xi32>
  %t4 = stablehlo.add %t3, %s#4 : tensor<2x4xi32>
  %t5 = stablehlo.add %t4, %s#5 : tensor<2x4xi32>
  %t6 = stablehlo.add %t5, %s#6 : tensor<2x4xi32>
  %t7 = stablehlo.add %t6, %s#7 : tensor<2x4xi32>
  %t8 = stablehlo.add %t7, %s#8 : tensor<2x4xi32>
  %t9 = stablehlo.add %t8, %s#9 : tensor<2x4xi32>
  %t10 = stablehlo.add %t9, %s#10 : tensor<2x4xi32>
  %t11 = stablehlo.add %t10, %s#11 : tensor<2x4xi32>
  %t12 = stablehlo.add %t11, %s#12 : tensor<2x4xi32>
  %t13 = stablehlo.add %t12, %s#13 : tensor<2x4xi32>
  %t14 = stablehlo.add %t13, %s#14 : tensor<2x4xi32>
  %t15 = stablehlo.add %t14, %s#15 : tensor<2x4xi32>
  %t16 = stablehlo.add %t15, %s#16 : tensor<2x4xi32>
  return %t16 : tensor<2x4xi32>
}
