// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// For tests: what becomes of windows of files, and whether that is what libjpeg-turbo says.
#pragma once
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "codec/jpeg/maker_testing.h"
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

// `indexes`: what is known of files, and learns of this one.
inline Outcome outcome(const File& f, const Window& made, const Window& judged,
                       const DecodeOptions& o = {}, EntropyIndexes* indexes = nullptr) {
  File out(static_cast<size_t>(made.shape().volume()));
  Arena scratch;
  try {
    EncodedImage image = peek(f, o);
    image.jpeg.indexes = indexes;
    const View view = View::window(out.data(), DType::kUint8, made, image.type().shape, "HWC");
    image.codec->decode(image, view, judged, scratch);
  } catch (const SampleError& e) {
    return {.error = e.what(), .offset = e.offset};
  }
  Window inner = judged;
  for (int a = 0; a < 3; ++a) inner.begin[a] -= made.begin[a], inner.end[a] -= made.begin[a];
  return {.pixels = crop(out, made.shape(), inner)};
}

// The same by libjpeg-turbo alone.
inline Outcome by_libjpeg(const File& f, const Window& made, const Window& judged,
                          const DecodeOptions& o = {}) {
  leave_plain_jpeg_to_libjpeg(true);
  Outcome result = outcome(f, made, judged, o);
  leave_plain_jpeg_to_libjpeg(false);
  return result;
}

// Whether our own decoder decodes the window by itself.
inline bool is_ours(const File& f, const DecodeOptions& o, const Window& w,
                    EntropyIndexes* indexes = nullptr) {
  EncodedImage image = peek(f, o);
  image.jpeg.indexes = indexes;
  File out(static_cast<size_t>(w.shape().volume()));
  const View view = View::window(out.data(), DType::kUint8, w, image.type().shape, "HWC");
  const StoredPart part(image, view, w);
  Arena scratch;
  return decode_plain_jpeg(image, part.out, part.judged_rows, scratch);
}

// Our own decoder takes the file, with the pixels of libjpeg-turbo.
inline void expect_ours(const JpegKind& kind, const std::vector<uint8_t>* given = nullptr) {
  const File f = make_jpeg(kind, given);
  DecodeOptions o;
  o.adjust_orientation = false;
  ASSERT_TRUE(is_ours(f, o, Window::all(shape_of(f, o)))) << kind.str();
  ASSERT_TRUE(decode(f, o) == plain_decode(f, JCS_RGB)) << kind.str();
}

// Pictures of one colour, noise and steps, as three rounds have them.
inline std::vector<uint8_t> extreme_pixels(const JpegKind& kind, int round, std::mt19937& random) {
  std::vector<uint8_t> pixels(static_cast<size_t>(kind.width) * kind.height * 3);
  for (uint8_t& p : pixels)
    p = static_cast<uint8_t>(round % 3 == 0 ? 200 : round % 3 == 1 ? random() : random() % 2 * 255);
  return pixels;
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
