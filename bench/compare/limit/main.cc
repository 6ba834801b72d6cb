// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The limit of libjpeg-turbo: makes batches of 64 of bytes in memory, with the windows that Stoker
// drew, without files, queues or threads. Usage: limit LIST, a text file with one picture per line.
// It answers each command, a line of stdin, with one line of JSON:
//   round RUN_IN STEPS FIRST   makes steps FIRST .. FIRST + STEPS - 1 (RUN_IN is for peers that
//                              work ahead)
//   check FILE STEP            tells how many levels of 0 .. 255 the float32 batch in FILE is off
#include <chrono>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "decode.h"
#include "resize.h"
#include "windows.h"

namespace {

using limit::kSize;
constexpr int kBatch = 64, kPicture = 3 * kSize * kSize;

struct Picture {
  std::vector<uint8_t> bytes;
  limit::Size size;
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

std::vector<uint8_t> bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    std::fprintf(stderr, "limit: cannot read %s\n", path.c_str());
    std::exit(1);
  }
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

class Limit {
 public:
  explicit Limit(const std::string& list) : batch_(kBatch * kPicture) {
    std::ifstream in(list);
    for (std::string path; std::getline(in, path);) {
      std::vector<uint8_t> bytes = bytes_of(path);
      const limit::Size size = decoder_.size(bytes);
      pictures_.push_back({std::move(bytes), size});
    }
  }

  void make(int64_t step) {
    for (int64_t i = 0; i < kBatch; ++i) {
      const int64_t sample = step * kBatch + i, all = static_cast<int64_t>(pictures_.size());
      const Picture& p = pictures_[static_cast<size_t>(sample % all)];
      const limit::Window w =
          limit::window_drawn(sample / all, sample % all, p.size.height, p.size.width);
      const limit::Window wanted = resizer_.plan(w, p.size);
      const double begun = now();
      const limit::Region region = decoder_.window(p.bytes, wanted);
      decoding_ += now() - begun;
      resizer_.run(region, batch_.data() + i * kPicture);
    }
  }

  void round(std::istream& arguments) {
    int64_t run_in = 0, steps = 0, first = 0;
    arguments >> run_in >> steps >> first;
    decoding_ = 0;
    const double begun = now(), cpu_begun = cpu_seconds();
    for (int64_t s = 0; s < steps; ++s) make(first + s);
    const double seconds = now() - begun, cpu = cpu_seconds() - cpu_begun;
    const int64_t images = steps * kBatch;
    std::printf("{\"images\": %" PRId64 ", \"seconds\": %.6f, \"cpu\": %.6f, \"decode\": %.6f}\n",
                images, seconds, cpu, decoding_);
  }

  void check(std::istream& arguments) {
    std::string path;
    int64_t step = 0;
    arguments >> path >> step;
    make(step);
    std::ifstream in(path, std::ios::binary);
    std::vector<float> other(batch_.size());
    const auto bytes = static_cast<std::streamsize>(other.size() * sizeof(float));
    if (!in.read(reinterpret_cast<char*>(other.data()), bytes)) {
      std::fprintf(stderr, "limit: %s holds no batch\n", path.c_str());
      std::exit(1);
    }
    constexpr double kDeviation[3] = {58.395, 57.12, 57.375};
    double most = 0, sum = 0;
    for (size_t i = 0; i < other.size(); ++i) {
      const double apart = std::fabs(static_cast<double>(other[i]) - batch_[i]) *
                           kDeviation[i / (kSize * kSize) % 3];
      most = std::max(most, apart);
      sum += apart;
    }
    std::printf("{\"most\": %.3f, \"mean\": %.4f}\n", most,
                sum / static_cast<double>(other.size()));
  }

 private:
  limit::Decoder decoder_;
  limit::Resizer resizer_;
  std::vector<Picture> pictures_;
  std::vector<float> batch_;
  double decoding_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: limit LIST\n");
    return 2;
  }
  Limit limit(argv[1]);
  limit.make(0);
  std::printf(
      "{\"ahead\": 0, \"about\": \"the limit of libjpeg-turbo: it alone, and a fused resize, "
      "%s\"}\n",
      limit::resize_form());
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    if (command == "round") limit.round(words);
    else if (command == "check") limit.check(words);
    else return 2;
    std::fflush(stdout);
  }
  return 0;
}
