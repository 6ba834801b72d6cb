// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// For tests: decodes in one line, and catches what an error said.
#pragma once
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "codec/codec.h"

namespace stoker::test {

using File = std::vector<uint8_t>;

inline Shape shape_of(const File& f, const DecodeOptions& o = {}) {
  return peek(f, o).type().shape;
}

// The window `w` of a file that is judged for the window `judged`.
inline File decode(const File& f, const DecodeOptions& o, const Window& w, const Window& judged) {
  File out(static_cast<size_t>(w.shape().volume()));
  Arena scratch;
  const EncodedImage image = peek(f, o);
  const View view = View::window(out.data(), DType::kUint8, w, image.type().shape, "HWC");
  image.codec->decode(image, view, judged, scratch);
  return out;
}

inline File decode(const File& f, const DecodeOptions& o, const Window& w) {
  return decode(f, o, w, w);
}

inline File decode(const File& f, const DecodeOptions& o = {}) {
  return decode(f, o, Window::all(shape_of(f, o)));
}

inline File crop(const File& whole, const Shape& full, const Window& w) {
  File part;
  for (int64_t y = w.begin[0]; y < w.end[0]; ++y) {
    const auto row = whole.begin() + y * full[1] * full[2];
    part.insert(part.end(), row + w.begin[1] * full[2], row + w.end[1] * full[2]);
  }
  return part;
}

inline int64_t pick(std::mt19937& random, int64_t n) { return static_cast<int64_t>(random() % n); }

struct Refusal {
  std::string what;
  int64_t offset = -2;

  bool says(std::string_view text) const { return what.find(text) != what.npos; }
};

inline Refusal refusal(const File& f, const DecodeOptions& o = {}) {
  try {
    decode(f, o);
  } catch (const SampleError& e) {
    return {e.what(), e.offset};
  }
  return {.what = "no error"};
}

inline File cut(const File& f, size_t size) {
  return {f.begin(), f.begin() + static_cast<long>(size)};
}

}  // namespace stoker::test
