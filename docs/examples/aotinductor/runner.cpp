// Runs what AOTInductor made of a model, and compares it with what the portable artifact computes.
//
//   runner FOLDER BATCH FEATURES
//
// Exit code 0 when every output is within 1e-6.

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include <torch/csrc/inductor/aoti_package/model_package_loader.h>
#include <torch/torch.h>

namespace {

torch::Tensor read(const std::string& path, std::vector<int64_t> sizes) {
  torch::Tensor tensor = torch::empty(sizes, torch::kFloat32);
  std::ifstream file(path, std::ios::binary);
  file.read(static_cast<char*>(tensor.data_ptr()), static_cast<std::streamsize>(tensor.nbytes()));
  if (!file) {
    std::cerr << path << ": cannot read " << tensor.nbytes() << " bytes\n";
    std::exit(2);
  }
  return tensor;
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) {
    std::cerr << "usage: runner FOLDER BATCH FEATURES\n";
    return 2;
  }
  const std::string folder = words[1];
  const int64_t batch = std::stol(words[2]), features = std::stol(words[3]);
  c10::InferenceMode mode;
  torch::inductor::AOTIModelPackageLoader loader(folder + "/model.pt2");
  const torch::Tensor expected = read(folder + "/outputs.bin", {batch, 1});
  std::vector<torch::Tensor> inputs{read(folder + "/inputs.bin", {batch, features})};
  const torch::Tensor actual = loader.run(inputs).at(0);
  const double apart = (actual - expected).abs().max().item<double>();
  std::cout << "at most " << apart << " apart\n";
  return apart <= 1e-6 ? 0 : 1;
}
