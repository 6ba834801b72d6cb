// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Decodes any bytes as an encoded image. The result must be a picture or a SampleError, and a
// window must equal that part of the whole picture. JPEG is decoded as libjpeg-turbo does. The
// first 8 bytes choose the options and the window, and the rest is the file.
#include <algorithm>
#include <string_view>
#include <vector>

#include "codec/codec.h"
#include "codec/plain_jpeg/decoder.h"
#include "refusals.h"

namespace stoker {
namespace {

constexpr size_t kChoices = 8;
constexpr size_t kMostMemory = size_t{1} << 30;  // libFuzzer allows four times as much

struct Choices {
  DecodeOptions options;
  JpegOptions jpeg;
  const uint8_t* window;  // 4 bytes

  explicit Choices(const uint8_t* b) : window(b + 4) {
    options.output_type = static_cast<ImageType>(b[0] % 6);
    options.adjust_orientation = b[1] & 1;
    jpeg.use_fast_idct = b[1] & 2;
    options.tolerate_corrupt = b[1] & 4;
    options.verify = b[1] & 8;
    options.page = b[2] % 4;
    options.max_pixels = 1 << 18;
  }

  Window window_of(const Shape& full) const {
    Window w = Window::all(full);
    for (int a = 0; a < 2; ++a) {
      w.begin[a] = full[a] * window[2 * a] / 256;
      w.end[a] = w.begin[a] + 1 + (full[a] - w.begin[a] - 1) * window[2 * a + 1] / 255;
    }
    return w;
  }
};

bool decode(const EncodedImage& image, const View& out, const Window& judged) {
  try {
    Arena scratch(kMostMemory, kMostMemory);
    scratch.set_alone(true);
    image.codec->decode(image, out, judged, scratch);
    return true;
  } catch (const TooLarge&) {
    throw;  // the whole picture needs more than a window
  } catch (const SampleError& e) {
    fuzz::check_refusal(e, image.bytes);
    return false;
  }
}

// Whether a window is good, and its pixels, do not depend on how much else is decoded.
void compare(const EncodedImage& image, const Choices& choices) {
  const Shape full = image.type().shape;
  const Window w = choices.window_of(full);
  const DType dtype = image.info.dtype;
  const int64_t size = size_of(dtype);
  std::vector<uint8_t> whole(static_cast<size_t>(full.volume() * size));
  std::vector<uint8_t> part(static_cast<size_t>(w.shape().volume() * size));
  const View all = View::dense(whole.data(), dtype, full, "HWC");
  const View window = View::window(part.data(), dtype, w, full, "HWC");
  const bool is_whole_good = decode(image, all, all.covers());
  const bool is_good = decode(image, window, w);
  if (is_whole_good && !is_good) std::abort();
  if (decode(image, all, w) != is_good) std::abort();
  if (!is_good) return;
  const size_t row = static_cast<size_t>(window.strides[0]);
  for (int64_t y = 0; y < window.shape[0]; ++y) {
    const uint8_t* want =
        all.as<uint8_t>() + (w.begin[0] + y) * all.strides[0] + w.begin[1] * all.strides[1];
    if (!std::equal(want, want + row, part.data() + y * window.strides[0])) std::abort();
  }
}

// Our own decoder of JPEG gives the verdict and the pixels of libjpeg-turbo.
void compare_with_library(const EncodedImage& image, const Choices& choices) {
  const Shape full = image.type().shape;
  const Window w = choices.window_of(full);
  std::vector<uint8_t> pixels[2];
  bool is_good[2];
  for (const bool is_library : {false, true}) {
    std::vector<uint8_t>& p = pixels[is_library];
    p.resize(static_cast<size_t>(w.shape().volume()));
    leave_plain_jpeg_to_libjpeg(is_library);
    is_good[is_library] = decode(image, View::window(p.data(), DType::kUint8, w, full, "HWC"), w);
  }
  leave_plain_jpeg_to_libjpeg(false);
  if (is_good[0] != is_good[1] || (is_good[0] && pixels[0] != pixels[1])) std::abort();
}

}  // namespace
}  // namespace stoker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < stoker::kChoices) return 0;
  const stoker::Choices choices(data);
  const std::vector<uint8_t> file(data + stoker::kChoices, data + size);
  try {
    stoker::EncodedImage image = stoker::peek(file, choices.options);
    image.jpeg = choices.jpeg;
    stoker::compare(image, choices);
    if (std::string_view(image.info.format) == "JPEG" && !image.info.is_lossless)
      stoker::compare_with_library(image, choices);
  } catch (const stoker::SampleError& e) {
    stoker::fuzz::check_refusal(e, file);
  }
  return 0;
}
