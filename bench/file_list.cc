// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Times loading a saved list of 1.28 million files beside a plain loop over its lines, and shows
// the memory that the list takes.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <vector>

#include "io/paths/path_list.h"

namespace {

constexpr int kFiles = 1281167, kRounds = 15;

template <class F>
double seconds(F f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

}  // namespace

int main() {
  const auto path =
      std::filesystem::temp_directory_path() / ("stoker_list_" + std::to_string(getpid()));
  {
    std::ofstream out(path);
    for (int i = 0; i < kFiles; ++i) {
      const int label = i / 1282;
      out << 'n' << 10000000 + label << "/n" << 10000000 + label << '_' << i << ".JPEG " << label
          << '\n';
    }
  }
  std::vector<double> loops, loads, ratios;
  size_t bytes = 0;
  int64_t lines = 0, files = 0;
  for (int round = 0; round < kRounds; ++round) {
    loops.push_back(seconds([&] {
      std::ifstream in(path);
      lines = 0;
      for (std::string line; std::getline(in, line);) lines += !line.empty();
    }));
    loads.push_back(seconds([&] {
      stoker::io::PathListSpec spec;
      spec.file_list = path.string();
      const stoker::io::PathList list(spec);
      files = list.size();
      bytes = list.bytes();
    }));
    ratios.push_back(loads.back() / loops.back());
  }
  std::filesystem::remove(path);
  if (lines != kFiles || files != kFiles) return 1;
  std::printf("%d files: loop over lines %.3f s, list %.3f s, %.2f x; %.1f bytes a file\n", kFiles,
              median(loops), median(loads), median(ratios), static_cast<double>(bytes) / kFiles);
}
