// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// For tests: what becomes of windows of damaged files.
#pragma once
#include <random>
#include <string>

#include "codec/orientation.h"
#include "codec/plain_jpeg/decoder.h"
#include "codec/testing.h"

namespace stoker::test {

struct Outcome {
  std::string error;
  int64_t offset = -1;
  File pixels;  // none if there was an error

  bool is_good() const { return error.empty(); }
  bool operator==(const Outcome&) const = default;
};

inline Outcome outcome(const File& f, const Window& made, const Window& judged,
                       const DecodeOptions& o = {}) {
  try {
    Window inner = judged;
    for (int a = 0; a < 3; ++a) inner.begin[a] -= made.begin[a], inner.end[a] -= made.begin[a];
    return {.pixels = crop(decode(f, o, made, judged), made.shape(), inner)};
  } catch (const SampleError& e) {
    return {.error = e.what(), .offset = e.offset};
  }
}

// The same by libjpeg-turbo alone.
inline Outcome by_libjpeg(const File& f, const Window& made, const Window& judged,
                          const DecodeOptions& o = {}) {
  leave_plain_jpeg_to_libjpeg(true);
  Outcome result = outcome(f, made, judged, o);
  leave_plain_jpeg_to_libjpeg(false);
  return result;
}

inline bool is_ours(const File& f, const DecodeOptions& o, const Window& w) {
  const EncodedImage image = peek(f, o);
  File out(static_cast<size_t>(w.shape().volume()));
  const View view = View::window(out.data(), DType::kUint8, w, image.type().shape, "HWC");
  const StoredPart part(image, view, w);
  Arena scratch;
  return decode_plain_jpeg(image, part.out, part.judged_rows, scratch);
}

inline Window random_window(std::mt19937& random, const Shape& full) {
  Window w = Window::all(full);
  for (int a = 0; a < 2; ++a) {
    w.begin[a] = pick(random, full[a]);
    w.end[a] = w.begin[a] + 1 + pick(random, full[a] - w.begin[a]);
    if (random() % 4 == 0) w.begin[a] = 0;
    if (random() % 4 == 0) w.end[a] = full[a];
  }
  return w;
}

}  // namespace stoker::test
