// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Times our decoder of JPEG beside libjpeg-turbo on real files, one core: whole pictures as RGB
// and as gray, and the windows that ResNet's training crops (8 to 100 % of the area). The two take
// turns file by file, and the fastest run of each file counts. Both must give the same bytes. Then
// the same windows with an entropy index and without, and what the index takes. At last epochs, as
// a training has them: each decodes another window of each file, with the indexes that the epochs
// before have made, and without. There, no file is decoded twice in a row, so a CPU that learns
// what a file's branches do gains nothing. Progressive files have no index; where the folder begins
// with one, only the first part runs.
//
//   bench_jpeg FOLDER [rounds [epochs]]
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <vector>

#include "codec/codec.h"
#include "codec/plain_jpeg/decoder.h"
#include "codec/plain_jpeg/entropy_indexes.h"

namespace {

using namespace stoker;
namespace fs = std::filesystem;
using File = std::vector<uint8_t>;

std::vector<File> load(const char* folder) {
  std::vector<File> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    files.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    if (files.back().size() < 3 || files.back()[0] != 0xFF || files.back()[1] != 0xD8)
      files.pop_back();
  }
  return files;
}

Window training_window(std::mt19937& random, const Shape& full) {
  std::uniform_real_distribution<double> area(0.08, 1),
      log_ratio(-std::log(4. / 3), std::log(4. / 3));
  Window w = Window::all(full);
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double size = area(random) * static_cast<double>(full[0] * full[1]);
    const double ratio = std::exp(log_ratio(random));
    const auto height = std::llround(std::sqrt(size / ratio));
    const auto width = std::llround(std::sqrt(size * ratio));
    if (height < 1 || width < 1 || height > full[0] || width > full[1]) continue;
    w.begin[0] = std::uniform_int_distribution<int64_t>(0, full[0] - height)(random);
    w.begin[1] = std::uniform_int_distribution<int64_t>(0, full[1] - width)(random);
    w.end[0] = w.begin[0] + height;
    w.end[1] = w.begin[1] + width;
    break;
  }
  return w;
}

// Of the thread's CPU time, in which nothing of other programs is.
double now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) * 1e-3;
}

class Decoder {
 public:
  // Returns microseconds.
  double time(const EncodedImage& image, const Window& w, bool by_libjpeg, File& out) {
    leave_plain_jpeg_to_libjpeg(by_libjpeg);
    scratch_.reset();
    out.resize(static_cast<size_t>(w.shape().volume()));
    const View view = View::window(out.data(), DType::kUint8, w, image.type().shape, "HWC");
    const double begin = now();
    image.codec->decode(image, view, w, scratch_);
    return now() - begin;
  }

 private:
  Arena scratch_;
};

bool race(const char* name, const std::vector<File>& files, ImageType type, bool is_window,
          int rounds) {
  std::mt19937 random(1);
  Decoder decoder;
  std::array<double, 2> sum = {};
  for (const File& file : files) {
    DecodeOptions options;
    options.output_type = type;
    const EncodedImage image = peek(file, options);
    const Shape full = image.type().shape;
    const Window w = is_window ? training_window(random, full) : Window::all(full);
    std::array<double, 2> best = {1e30, 1e30};
    std::array<File, 2> out;
    for (int round = 0; round < rounds; ++round)
      for (const size_t by_libjpeg : {0, 1})
        best[by_libjpeg] =
            std::min(best[by_libjpeg], decoder.time(image, w, by_libjpeg, out[by_libjpeg]));
    if (out[0] != out[1]) return false;
    for (const size_t i : {0, 1}) sum[i] += best[i] / static_cast<double>(files.size());
  }
  std::printf("%-16s %10.1f %14.1f %10.2f\n", name, sum[0], sum[1], sum[1] / sum[0]);
  return true;
}

template <class F>
double microseconds(const F& f) {
  const double begin = now();
  f();
  return now() - begin;
}

// What a file's index takes: to hash the file, to build it alone, to decode the window and note the
// places, to decode it with a whole index and without; and its bytes, as saved.
struct IndexTimes {
  double hash = 1e30, build = 1e30, noting = 1e30, with = 1e30, without = 1e30;
  size_t bytes = 0;

  // Returns whether all pixels are the same.
  bool take(const File& file, const Window& w, int every, int rounds) {
    EncodedImage image = peek(file, {});
    Decoder decoder;
    File out, with_out, noting_out;
    for (int round = 0; round < rounds; ++round) {
      hash = std::min(hash, microseconds([&] { (void)FileKey::of(file); }));
      Arena scratch;
      std::optional<EntropyIndex> index;
      build =
          std::min(build, microseconds([&] { index = build_entropy_index(file, every, scratch); }));
      EntropyIndexes empty(size_t{1} << 20, every), whole(size_t{1} << 20, every);
      if (index) whole.keep(*index);
      if (index) bytes = index->saved().size();
      without = std::min(without, decoder.time(image, w, false, out));
      image.jpeg.indexes = &empty;
      noting = std::min(noting, decoder.time(image, w, false, noting_out));
      image.jpeg.indexes = &whole;
      with = std::min(with, decoder.time(image, w, false, with_out));
      image.jpeg.indexes = nullptr;
    }
    return out == with_out && out == noting_out;
  }
};

// Decodes a window of each file. Returns microseconds a file.
double pass_over(const std::vector<EncodedImage>& images, const std::vector<Window>& windows,
                 EntropyIndexes* indexes, std::vector<uint64_t>& hashes) {
  Decoder decoder;
  File out;
  double sum = 0;
  for (size_t i = 0; i < images.size(); ++i) {
    EncodedImage image = images[i];
    image.jpeg.indexes = indexes;
    sum += decoder.time(image, windows[i], false, out);
    hashes[i] = hash_of_file(out);
  }
  return sum / static_cast<double>(images.size());
}

bool race_epochs(const std::vector<File>& files, int every, int epochs) {
  std::vector<EncodedImage> images;
  for (const File& file : files) images.push_back(peek(file, {}));
  EntropyIndexes indexes(size_t{1} << 30, every);
  std::mt19937 random(2);
  std::vector<uint64_t> want(files.size()), got(files.size());
  std::vector<double> without, with;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    std::vector<Window> windows;
    for (const EncodedImage& image : images)
      windows.push_back(training_window(random, image.type().shape));
    without.push_back(pass_over(images, windows, nullptr, want));
    with.push_back(pass_over(images, windows, &indexes, got));
    if (got != want) return false;
  }
  const auto line = [](const char* name, const std::vector<double>& times) {
    std::printf("%-8s", name);
    for (const double t : times) std::printf(" %6.1f", t);
    std::printf("\n");
  };
  std::printf("epochs of windows, us a file, places every %d\n", every);
  line("without", without), line("with", with);
  return indexes.statistics().wrong == 0;
}

bool race_index(const std::vector<File>& files, int every, int rounds) {
  std::mt19937 random(1);
  const auto n = static_cast<double>(files.size());
  double hash = 0, build = 0, noting = 0, with = 0, without = 0, bytes = 0;
  for (const File& file : files) {
    IndexTimes t;
    if (!t.take(file, training_window(random, peek(file, {}).type().shape), every, rounds))
      return false;
    hash += t.hash / n, build += t.build / n, noting += t.noting / n;
    with += t.with / n, without += t.without / n, bytes += static_cast<double>(t.bytes) / n;
  }
  std::printf("%5d %8.0f %8.1f %8.1f %8.1f %8.1f %8.1f %8.2f\n", every, bytes, hash, build, without,
              noting, with, without / with);
  return true;
}

int finish(bool agree) {
  if (!agree) std::fprintf(stderr, "the two decoders differ\n");
  return agree ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "bench_jpeg FOLDER [rounds [epochs]]\n"), 2;
  const std::vector<File> files = load(argv[1]);
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 10;
  const int epochs = argc > 3 ? std::atoi(argv[3]) : 6;
  std::printf("%zu files, us   %10s %14s %10s\n", files.size(), "own", "libjpeg-turbo", "ratio");
  bool agree = rounds == 0 || (race("whole, RGB", files, ImageType::kRGB, false, rounds) &&
                               race("whole, gray", files, ImageType::kGray, false, rounds) &&
                               race("windows, RGB", files, ImageType::kRGB, true, rounds));
  if (!agree || files.empty() || peek(files.front(), {}).info.is_progressive) return finish(agree);
  if (rounds > 0) std::printf("windows, RGB: us by places: every so many MCUs; 0: each row\n");
  std::printf("%5s %8s %8s %8s %8s %8s %8s %8s\n", "every", "bytes", "hash", "build", "without",
              "noting", "with", "ratio");
  if (rounds > 0)
    for (const int every : {0, 16, 8}) agree = agree && race_index(files, every, rounds);
  for (const int every : {0, 16, 8}) agree = agree && race_epochs(files, every, epochs);
  return finish(agree);
}
