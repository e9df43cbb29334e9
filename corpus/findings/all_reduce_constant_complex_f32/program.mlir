func.func @main() -> (tensor<2xcomplex<f32>>) {
  %a = stablehlo.constant dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>
  %0 = "stablehlo.all_reduce"(%a) ({
  ^bb0(%x: tensor<complex<f32>>, %y: tensor<complex<f32>>):
    %s = stablehlo.add %x, %y : tensor<complex<f32>>
    stablehlo.return %s : tensor<complex<f32>>
  }) {replica_groups = dense<0> : tensor<1x1xi64>} : (tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  return %0 : tensor<2xcomplex<f32>>
}
