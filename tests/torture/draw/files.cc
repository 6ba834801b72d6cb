// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "files.h"

#include <fstream>

#include "codec/jpeg/maker_testing.h"

namespace stoker::torture {

namespace {

using Bytes = std::vector<uint8_t>;

test::JpegKind plain(const MadeFile& f) {
  test::JpegKind kind;
  kind.width = f.width;
  kind.height = f.height;
  kind.seed = static_cast<unsigned>(f.seed);
  return kind;
}

// Samplings that libjpeg writes: each divides the largest, and an MCU has at most ten blocks. The
// first three serve four components as well.
constexpr int kSamplings[][3][2] = {
    {{2, 2}, {1, 1}, {1, 1}}, {{2, 1}, {1, 1}, {1, 1}}, {{1, 2}, {1, 1}, {1, 1}},
    {{4, 1}, {1, 1}, {1, 1}}, {{1, 4}, {1, 1}, {1, 1}}, {{4, 2}, {1, 1}, {1, 1}},
    {{2, 2}, {2, 1}, {1, 2}}, {{1, 1}, {2, 2}, {1, 1}}, {{3, 1}, {1, 1}, {3, 1}},
    {{1, 1}, {1, 1}, {2, 1}},
};

// Colour space, sampling, scans, restarts and orientation as hardly any camera writes them.
test::JpegKind odd(const MadeFile& f) {
  Dice dice(static_cast<uint64_t>(f.seed));
  test::JpegKind kind = plain(f);
  kind.stored = dice.of({JCS_YCbCr, JCS_YCbCr, JCS_GRAYSCALE, JCS_RGB, JCS_CMYK, JCS_YCCK});
  const bool has_four = test::channels_of(kind.stored) == 4;
  const auto& sampling = kSamplings[dice.below(has_four ? 3 : std::size(kSamplings))];
  for (int c = 0; c < 3; ++c) {
    kind.sampling.h[c] = sampling[c][0];
    kind.sampling.v[c] = sampling[c][1];
  }
  kind.sampling.h[3] = kind.sampling.h[0];
  kind.sampling.v[3] = kind.sampling.v[0];
  kind.quality = static_cast<int>(dice.between(1, 100));
  kind.progressive = dice.often(0.3);
  kind.arithmetic = dice.often(0.1);
  kind.separate_scans = dice.often(0.15);
  if (dice.often(0.3)) kind.restart_interval = static_cast<int>(dice.between(1, 5));
  if (dice.often(0.5)) kind.orientation = static_cast<int>(dice.between(0, 9));
  kind.little_endian = dice.often(0.5);
  return kind;
}

Bytes noise(const MadeFile& f) {
  Dice dice(static_cast<uint64_t>(f.seed));
  Bytes b(static_cast<size_t>(f.width) * static_cast<size_t>(f.height));
  for (uint8_t& byte : b) byte = static_cast<uint8_t>(dice.bits());
  static constexpr const char* kBegins[] = {
      "\xFF\xD8\xFF", "\x89PNG\r\n\x1a\n", "RIFF", "GIF89a", "BM", "II*", ""};
  const std::string begin = dice.of(kBegins);
  for (size_t i = 0; i < std::min(begin.size(), b.size()); ++i)
    b[i] = static_cast<uint8_t>(begin[i]);
  return b;
}

// Where the first segment with this marker begins, or the end.
size_t find_marker(const Bytes& b, uint8_t marker) {
  for (size_t i = 0; i + 1 < b.size(); ++i)
    if (b[i] == 0xFF && b[i + 1] == marker) return i;
  return b.size();
}

// Says in the header that the picture is huge.
void claim(Bytes& b, Dice& dice) {
  size_t at = b.size();
  for (uint8_t marker = 0xC0; marker < 0xCC; ++marker)
    if (marker != 0xC4 && marker != 0xC8) at = std::min(at, find_marker(b, marker));
  if (at + 9 > b.size()) return;
  const int side = dice.of({1000, 20000, 65500, 65535});
  for (size_t i = 5; i < 9; i += 2) {
    const int extent = dice.often(0.7) ? side : 1;
    b[at + i] = static_cast<uint8_t>(extent >> 8);
    b[at + i + 1] = static_cast<uint8_t>(extent);
  }
}

void flip_bits(Bytes& b, size_t begin, size_t end, Dice& dice) {
  if (begin >= end) return;
  for (int64_t count = dice.between(1, 6); count > 0; --count) {
    const size_t at = begin + static_cast<size_t>(dice.below(static_cast<int64_t>(end - begin)));
    b[at] = static_cast<uint8_t>(b[at] ^ (1 << dice.below(8)));
  }
}

void damage(Bytes& b, const MadeFile& f) {
  Dice dice(mix(static_cast<uint64_t>(f.seed), 1));
  const size_t data = std::min(find_marker(b, 0xDA) + 14, b.size());
  if (f.damage == "cut")
    b.resize(static_cast<size_t>(dice.share() * static_cast<double>(b.size())));
  if (f.damage == "header bits") flip_bits(b, 2, data, dice);
  if (f.damage == "data bits") flip_bits(b, data, b.size(), dice);
  if (f.damage == "noise")
    for (size_t i = data + (b.size() - data) / 2; i + 2 < b.size(); ++i)
      b[i] = static_cast<uint8_t>(dice.bits());
  if (f.damage == "tail")
    for (int i = 0; i < 40; ++i) b.push_back(static_cast<uint8_t>(dice.bits()));
  if (f.damage == "huge") claim(b, dice);
}

}  // namespace

MadeFile draw_file(Dice& dice) {
  MadeFile f;
  f.kind = dice.of({"plain", "plain", "plain", "odd", "odd", "odd", "odd", "odd", "noise", "text",
                    "empty", "missing"});
  if (dice.often(0.3))
    f.damage = dice.of({"cut", "header bits", "data bits", "noise", "tail", "huge"});
  for (int* extent : {&f.width, &f.height})
    *extent = dice.often(0.8) ? static_cast<int>(dice.between(1, 40)) : dice.of({1, 64, 97, 250});
  f.seed = dice.seed();
  return f;
}

Bytes bytes_of(const MadeFile& f) {
  Bytes b;
  if (f.kind == "plain") b = test::make_jpeg(plain(f));
  if (f.kind == "odd") b = test::make_jpeg(odd(f));
  if (f.kind == "noise") b = noise(f);
  if (f.kind == "text") b = {'n', 'o', ' ', 'p', 'i', 'c', 't', 'u', 'r', 'e'};
  damage(b, f);
  return b;
}

Folder::Folder(const std::vector<MadeFile>& files) {
  path_ = (std::filesystem::temp_directory_path() / "stoker_torture_XXXXXX").string();
  if (!mkdtemp(path_.data())) throw std::runtime_error("mkdtemp");
  for (size_t i = 0; i < files.size(); ++i) {
    if (files[i].kind == "missing") continue;
    const Bytes b = bytes_of(files[i]);
    std::ofstream(path_ + "/" + std::to_string(i), std::ios::binary)
        .write(reinterpret_cast<const char*>(b.data()), static_cast<std::streamsize>(b.size()));
  }
}

}  // namespace stoker::torture
