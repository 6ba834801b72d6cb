// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// For tests: PNG files of every kind, of random samples.
#pragma once
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

#include <random>
#include <string>
#include <string_view>

#include "codec/testing.h"

namespace stoker::test {

struct PngKind {
  int width = 40, height = 30;
  int color = 2, depth = 8;  // as in IHDR
  bool interlaced = false;
  size_t chunk = 1 << 13;  // bytes of an IDAT chunk
  bool is_noise = true;  // else samples vary little
  unsigned seed = 1;

  std::string str() const {
    return "colour " + std::to_string(color) + " depth " + std::to_string(depth) + " size " +
           std::to_string(width) + "x" + std::to_string(height) +
           (interlaced ? " interlaced" : "") + " chunk " + std::to_string(chunk) + " seed " +
           std::to_string(seed);
  }
};

inline void put_number(File& f, uint32_t v) {
  for (int shift = 24; shift >= 0; shift -= 8) f.push_back(static_cast<uint8_t>(v >> shift));
}

inline void put_chunk(File& f, std::string_view type, const File& data) {
  put_number(f, static_cast<uint32_t>(data.size()));
  const size_t begin = f.size();
  f.insert(f.end(), type.begin(), type.end());
  f.insert(f.end(), data.begin(), data.end());
  put_number(f, crc32_gzip_refl(0, f.data() + begin, f.size() - begin));
}

inline File zlib_of(File& raw) {
  File out(raw.size() + raw.size() / 8 + 1024);
  isal_zstream stream;
  isal_deflate_stateless_init(&stream);
  stream.gzip_flag = IGZIP_ZLIB;
  stream.next_in = raw.data();
  stream.avail_in = static_cast<uint32_t>(raw.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<uint32_t>(out.size());
  stream.end_of_stream = 1;
  EXPECT_EQ(isal_deflate_stateless(&stream), COMP_OK);
  out.resize(stream.total_out);
  return out;
}

// Random bytes will do as filtered rows: all five filters occur.
inline void put_rows(File& raw, std::mt19937& random, int64_t bits, int64_t rows, bool is_noise) {
  for (int64_t y = 0; bits > 0 && y < rows; ++y) {
    raw.push_back(static_cast<uint8_t>(random() % 5));
    for (int64_t i = 0; i < (bits + 7) / 8; ++i)
      raw.push_back(static_cast<uint8_t>(is_noise ? random() : random() % 3));
  }
}

inline File make_png(const PngKind& k) {
  std::mt19937 random(k.seed);
  const std::string_view signature("\x89PNG\r\n\x1A\n", 8);
  File f(signature.begin(), signature.end()), header;
  put_number(header, static_cast<uint32_t>(k.width));
  put_number(header, static_cast<uint32_t>(k.height));
  for (int v : {k.depth, k.color, 0, 0, int{k.interlaced}})
    header.push_back(static_cast<uint8_t>(v));
  put_chunk(f, "IHDR", header);
  if (k.color == 3) {
    File palette(3 * (size_t{1} << k.depth));
    for (uint8_t& v : palette) v = static_cast<uint8_t>(random());
    put_chunk(f, "PLTE", palette);
  }
  constexpr int kSamples[] = {1, 0, 3, 1, 2, 0, 4};
  const int64_t bits = int64_t{kSamples[k.color]} * k.depth;
  File raw;
  if (k.interlaced) {
    constexpr int kPasses[7][4] = {{0, 0, 8, 8}, {0, 4, 8, 8}, {4, 0, 8, 4}, {0, 2, 4, 4},
                                   {2, 0, 4, 2}, {0, 1, 2, 2}, {1, 0, 2, 1}};
    for (const auto& [y, x, down, right] : kPasses) {
      const int64_t rows = k.height > y ? (k.height - y - 1) / down + 1 : 0;
      const int64_t columns = k.width > x ? (k.width - x - 1) / right + 1 : 0;
      put_rows(raw, random, bits * columns, rows, k.is_noise);
    }
  } else {
    put_rows(raw, random, bits * k.width, k.height, k.is_noise);
  }
  const File data = zlib_of(raw);
  for (size_t at = 0; at < data.size(); at += k.chunk) {
    const auto begin = data.begin() + static_cast<long>(at);
    put_chunk(f, "IDAT", {begin, begin + static_cast<long>(std::min(k.chunk, data.size() - at))});
  }
  put_chunk(f, "IEND", {});
  return f;
}

}  // namespace stoker::test
