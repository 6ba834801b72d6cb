// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Encodes a small JPEG picture, damages its file, and decodes two windows of it. Each must have the
// verdict and the pixels that libjpeg-turbo gives, without an index of the file and with one that
// the windows before it have left. The input tells the kind of file and the windows, by its first
// bytes, and then the changes, of four bytes each. So nearly all inputs are files that reach the
// decoders, which is rare where all bytes are the file's own (codec_fuzz).
#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <span>
#include <vector>

#include "codec/jpeg/maker_testing.h"
#include "codec/plain_jpeg/decoder.h"
#include "codec/plain_jpeg/entropy_indexes.h"
#include "refusals.h"

namespace stoker {
namespace {

using File = std::vector<uint8_t>;

constexpr size_t kChoices = 16, kChange = 4;  // bytes
constexpr size_t kMostChanges = 8;
constexpr size_t kMostMemory = size_t{1} << 28;
constexpr int64_t kMostPixels = 1 << 16;

constexpr test::Sampling kSamplings[] = {
    {},
    test::k420,
    {{2, 1, 1, 1}, {1, 1, 1, 1}},
    {{1, 1, 1, 1}, {2, 1, 1, 1}},
    {{4, 1, 1, 1}, {1, 1, 1, 1}},
    {{1, 2, 2, 1}, {1, 2, 2, 1}},
    {{2, 2, 2, 1}, {2, 2, 1, 1}},
};

test::JpegKind kind_of(const uint8_t* b) {
  constexpr J_COLOR_SPACE kStored[] = {JCS_YCbCr, JCS_YCbCr, JCS_RGB, JCS_GRAYSCALE};
  test::JpegKind k;
  k.stored = kStored[b[0] % std::size(kStored)];
  k.sampling = kSamplings[b[0] / std::size(kStored) % std::size(kSamplings)];
  k.width = 1 + b[1] % 160;
  k.height = 1 + b[2] % 160;
  k.quality = 1 + b[3] % 100;
  k.optimized = b[4] & 1;
  k.progressive = b[4] & 2;
  // A marker behind each row of MCUs is what eight rows at once are read by.
  if (b[4] & 4) k.restart_interval = 1 + b[5] % 40;
  if (b[4] & 8) k.restart_interval = (k.width + 8 * k.sampling.h[0] - 1) / (8 * k.sampling.h[0]);
  k.seed = b[5];
  return k;
}

void change(File& f, const uint8_t* b) {
  const size_t at = (size_t{b[1]} << 8 | b[2]) % f.size();
  const auto place = f.begin() + static_cast<int64_t>(at);
  const auto behind = [&](int n) { return std::min(place + n, f.end()); };
  switch (b[0] % 8) {
    case 0: *place ^= static_cast<uint8_t>(1 << b[3] % 8); break;
    case 1: *place = b[3]; break;
    case 2: f.erase(place, behind(1 + b[3] % 40)); break;
    case 3: f.insert(place, {0xff, static_cast<uint8_t>(0xc0 + b[3] % 64)}); break;
    case 4: f.insert(place, 1 + b[3] % 30, static_cast<uint8_t>(b[3] * 7)); break;
    case 5: f.insert(place, 1 + b[3] % 3, 0xff); break;
    case 6: std::fill(place, behind(1 + b[3] % 20), static_cast<uint8_t>(b[3] / 20 * 21)); break;
    default: f.resize(std::max<size_t>(at, 1));
  }
  if (f.empty()) f.push_back(0);
}

Window window_of(const Shape& full, const uint8_t* b) {
  Window w = Window::all(full);
  for (int a = 0; a < 2; ++a) {
    w.begin[a] = full[a] * b[2 * a] / 256;
    w.end[a] = w.begin[a] + 1 + (full[a] - w.begin[a] - 1) * b[2 * a + 1] / 255;
  }
  return w;
}

// The pixels of a window; none where the file is refused.
std::optional<File> decoded(const EncodedImage& image, const Window& w) {
  File pixels(static_cast<size_t>(w.shape().volume()));
  const View out = View::window(pixels.data(), DType::kUint8, w, image.type().shape, "HWC");
  Arena scratch(kMostMemory, kMostMemory);
  scratch.set_alone(true);
  try {
    image.codec->decode(image, out, w, scratch);
    return pixels;
  } catch (const SampleError& e) {
    fuzz::check_refusal(e, image.bytes);
    return std::nullopt;
  }
}

void compare(const File& file, const uint8_t* choices) {
  DecodeOptions options;
  options.output_type = static_cast<ImageType>(choices[6] % 5);
  options.tolerate_corrupt = choices[7] & 1;
  options.verify = choices[7] & 2;
  options.max_pixels = kMostPixels;
  EncodedImage image = peek(file, options);
  const Shape full = image.type().shape;
  EntropyIndexes indexes(size_t{1} << 20, choices[7] & 4 ? 8 : 0);
  for (const uint8_t* b : {choices + 8, choices + 12, choices + 8}) {
    const Window w = window_of(full, b);
    leave_plain_jpeg_to_libjpeg(true);
    image.jpeg.indexes = nullptr;
    const std::optional<File> want = decoded(image, w);
    leave_plain_jpeg_to_libjpeg(false);
    if (decoded(image, w) != want) std::abort();
    image.jpeg.indexes = &indexes;
    if (decoded(image, w) != want) std::abort();
  }
  if (indexes.statistics().wrong) std::abort();
}

}  // namespace
}  // namespace stoker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace stoker;
  if (size < kChoices) return 0;
  File file = test::make_jpeg(kind_of(data));
  const size_t changes = std::min((size - kChoices) / kChange, kMostChanges);
  for (size_t i = 0; i < changes; ++i) change(file, data + kChoices + i * kChange);
  try {
    compare(file, data);
  } catch (const SampleError& e) {
    fuzz::check_refusal(e, file);
  }
  return 0;
}
