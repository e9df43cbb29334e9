func.func @main(%a: tensor<index>) -> tensor<index> {
  return %a : tensor<index>
}
