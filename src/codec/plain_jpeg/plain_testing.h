// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// For tests: plain files of every kind, and what may become of them.
#pragma once
#include <algorithm>
#include <optional>
#include <random>

#include "base/foreign_bytes.h"
#include "codec/jpeg/maker_testing.h"
#include "codec/testing.h"

namespace stoker::test {

inline constexpr Sampling kPlainSamplings[] = {
    {},  // 4:4:4
    k420,
    {{2, 1, 1, 1}, {1, 1, 1, 1}},  // 4:2:2
    {{1, 1, 1, 1}, {2, 1, 1, 1}},  // 4:4:0
    {{4, 1, 1, 1}, {1, 1, 1, 1}},  // 4:1:1
    {{4, 1, 1, 1}, {2, 1, 1, 1}},  // 4:1:0
    {{1, 1, 1, 1}, {4, 1, 1, 1}},
    {{2, 2, 2, 1}, {2, 2, 1, 1}},  // the same factor for two
    {{1, 2, 2, 1}, {1, 2, 2, 1}},  // Y is the small one
    {{1, 1, 2, 1}, {2, 1, 1, 1}},
};

inline JpegKind plain_kind(std::mt19937& random, unsigned seed) {
  constexpr J_COLOR_SPACE kStored[] = {JCS_YCbCr, JCS_YCbCr, JCS_YCbCr, JCS_RGB, JCS_GRAYSCALE};
  JpegKind k;
  k.seed = seed;
  k.stored = kStored[random() % std::size(kStored)];
  if (k.stored == JCS_GRAYSCALE) {
    k.sampling.h[0] = 1 + static_cast<int>(pick(random, 4));
    k.sampling.v[0] = 1 + static_cast<int>(pick(random, 4));
  } else {
    k.sampling = kPlainSamplings[random() % std::size(kPlainSamplings)];
  }
  const int64_t largest = random() % 4 == 0 ? 200 : 67;
  k.width = 1 + static_cast<int>(pick(random, largest));
  k.height = 1 + static_cast<int>(pick(random, largest));
  k.quality = 1 + static_cast<int>(pick(random, 100));
  k.optimized = random() % 2;
  k.restart_interval = random() % 2 ? 1 + static_cast<int>(pick(random, 20)) : 0;
  k.orientation = static_cast<int>(pick(random, 9));
  return k;
}

inline DecodeOptions random_options(std::mt19937& random) {
  constexpr ImageType kTypes[] = {ImageType::kRGB,  ImageType::kRGB,   ImageType::kBGR,
                                  ImageType::kGray, ImageType::kYCbCr, ImageType::kAny};
  DecodeOptions o;
  o.output_type = kTypes[random() % std::size(kTypes)];
  o.adjust_orientation = random() % 4 != 0;
  o.verify = random() % 4 == 0;
  return o;
}

// Where the data of the first scan begins.
inline size_t data_begin(const File& f) {
  const uint8_t sos[] = {0xFF, 0xDA};
  const auto at = static_cast<size_t>(std::search(f.begin(), f.end(), sos, sos + 2) - f.begin());
  return at + 2 + number_at<uint16_t>(f, at + 2, ByteOrder::kBig);
}

inline File mutated(std::mt19937& random, const File& f) {
  File g = f;
  const size_t data = data_begin(f);
  const size_t at = random() % 5 ? data + random() % (f.size() - data) : random() % f.size();
  const auto place = g.begin() + static_cast<long>(at);
  const auto marker = static_cast<uint8_t>(0xC0 + random() % 64);
  switch (random() % 9) {
    case 0: *place = static_cast<uint8_t>(*place ^ 1 << random() % 8); break;
    case 1: *place = static_cast<uint8_t>(random()); break;
    case 2: return cut(f, at);
    case 3: g.insert(place, {0xFF, marker}); break;
    case 4: g.insert(place, {0xFF, static_cast<uint8_t>(0xD0 + random() % 10)}); break;
    case 5: g.insert(place, 1 + random() % 30, static_cast<uint8_t>(random())); break;
    case 6: g.erase(place, place + std::min<long>(1 + random() % 40, g.end() - place)); break;
    case 7: g.insert(place, 1 + random() % 3, 0xFF); break;
    default: std::fill_n(place, std::min<long>(1 + random() % 20, g.end() - place), random());
  }
  return g;
}

struct Damaged {
  File file;
  DecodeOptions options;
  Shape full;  // of the whole picture
};

// A damaged file and how to decode it; none if its header is bad or tells of a large picture.
inline std::optional<Damaged> damaged(std::mt19937& random, const File& f) {
  Damaged d = {.file = mutated(random, f), .options = random_options(random)};
  d.options.tolerate_corrupt = random() % 8 == 0;
  try {
    d.full = shape_of(d.file, d.options);
  } catch (const SampleError&) {
    return std::nullopt;
  }
  if (d.full.volume() > 1 << 20) return std::nullopt;
  return d;
}

}  // namespace stoker::test
