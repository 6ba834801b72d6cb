// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The ResNet-50 training pipeline from C++: `resnet50 <folder of JPEGs> [batches]` prints the shape
// of each batch, the mean of its pixels and its first label.
#include "stoker.h"

#include <cstdio>
#include <cstdlib>
#include <numeric>

namespace {

stoker::Graph training_graph(const std::string& folder) {
  stoker::Graph g;
  auto files =
      stoker::call(g, "readers.file", {}, {{"file_root", folder}, {"random_shuffle", true}});
  auto image = stoker::call(g, "decoders.image", {files[0]});
  auto small =
      stoker::call(g, "random_resized_crop", image, {{"size", std::vector<int64_t>{224, 224}}});
  auto mirror = stoker::call(g, "random.coin_flip", {});
  auto batch = stoker::call(g, "crop_mirror_normalize", small,
                            {{"mean", std::vector<double>{123.675, 116.28, 103.53}},
                             {"std", std::vector<double>{58.395, 57.12, 57.375}}},
                            {{"mirror", mirror[0]}});
  g.outputs = {batch[0], files[1]};
  return g;
}

double mean(const stoker::Batch& images) {
  double sum = 0;
  int64_t count = 0;
  for (const stoker::Sample& s : images.samples) {
    const float* p = s.view.as<float>();
    sum = std::accumulate(p, p + s.view.shape.volume(), sum);
    count += s.view.shape.volume();
  }
  return sum / static_cast<double>(count);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s <folder> [batches]\n", argv[0]);
    return 2;
  }
  try {
    stoker::Pipeline pipe(training_graph(argv[1]), {.batch_size = 8, .num_threads = 2, .seed = 1});
    for (int i = 0; i < (argc > 2 ? std::atoi(argv[2]) : 3); ++i) {
      const stoker::Outputs step = *pipe.run();
      const stoker::Batch &images = step.batches[0], &labels = step.batches[1];
      std::printf("%zu images %s, mean %.4f, first label %d\n", images.samples.size(),
                  images.samples[0].view.shape.str().c_str(), mean(images),
                  *labels.samples[0].view.as<int32_t>());
    }
  } catch (const stoker::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
