// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// For tests: progressive files with scans of every kind.
#pragma once
#include <algorithm>
#include <random>
#include <vector>

#include "codec/plain_jpeg/plain_testing.h"

namespace stoker::test {

// Scans in a random order that tell of all coefficients to their last bit.
class RandomScans {
 public:
  RandomScans(std::mt19937& random, int components) : random_(random), components_(components) {
    for (auto& of_component : missing_) std::fill_n(of_component, 64, kAll);
  }

  std::vector<jpeg_scan_info> make() {
    while (!is_done()) {
      const auto c = static_cast<int>(pick(random_, components_));
      if (missing_[c][0] == kAll || (missing_[c][0] > 0 && random_() % 4 == 0)) add_dc(c);
      else if (missing_[c][0] >= 0) add_band(c);
    }
    return scans_;
  }

 private:
  static constexpr int kAll = -1;  // nothing of a coefficient has come

  bool is_done() const {
    return std::all_of(missing_, missing_ + components_, [](const auto& own) {
      return std::all_of(own, own + 64, [](int m) { return m == 0; });
    });
  }
  int less(int missing) {
    if (missing != kAll) return missing - 1;
    return random_() % 2 ? 0 : static_cast<int>(pick(random_, 4));
  }

  // Of a component, and perhaps of others behind it, of which as many bits are missing.
  void add_dc(int c) {
    jpeg_scan_info scan = {};
    const int before = missing_[c][0], after = less(before);
    for (int i = c; i < components_; ++i) {
      if (missing_[i][0] != before || (i > c && random_() % 4 == 0)) continue;
      scan.component_index[scan.comps_in_scan++] = i;
      missing_[i][0] = after;
    }
    add(scan, before, after);
  }

  // Of positions that begin anywhere, of which as many bits are missing.
  void add_band(int c) {
    int* const own = missing_[c];
    if (std::all_of(own + 1, own + 64, [](int m) { return m == 0; })) return;
    int first = random_() % 3 ? 1 : 1 + static_cast<int>(pick(random_, 63));
    while (own[first] == 0) first = first % 63 + 1;
    const int before = own[first], after = less(before);
    int last = first;
    // Whoever asks for many scans gets short bands.
    const unsigned stop = scans_.size() < 20 ? 20 : 1000;
    while (last < 63 && own[last + 1] == before && random_() % stop) ++last;
    std::fill(own + first, own + last + 1, after);
    jpeg_scan_info scan = {.comps_in_scan = 1, .component_index = {c}, .Ss = first, .Se = last};
    add(scan, before, after);
  }

  void add(jpeg_scan_info& scan, int before, int after) {
    scan.Ah = std::max(before, 0);
    scan.Al = after;
    scans_.push_back(scan);
  }

  std::mt19937& random_;
  const int components_;
  int missing_[3][64];  // lower bits
  std::vector<jpeg_scan_info> scans_;
};

// A file of libjpeg's own scans, or of random ones.
inline JpegKind progressive_kind(std::mt19937& random, unsigned seed) {
  JpegKind k = plain_kind(random, seed);
  k.progressive = true;
  if (random() % 4) k.scans = RandomScans(random, channels_of(k.stored)).make();
  return k;
}

// Where the segment of each scan begins, and behind them the marker of the end.
inline std::vector<size_t> scan_begins(const File& f) {
  std::vector<size_t> begins;
  for (size_t at = 2; at + 1 < f.size();) {
    if (f[at] != 0xFF || f[at + 1] == 0 || f[at + 1] == 0xFF ||
        (f[at + 1] >= 0xD0 && f[at + 1] <= 0xD7)) {
      at += f[at] == 0xFF && f[at + 1] != 0xFF ? 2 : 1;
      continue;
    }
    const uint8_t marker = f[at + 1];
    if (marker == 0xD9) {
      begins.push_back(at);
      return begins;
    }
    if (marker == 0xDA) begins.push_back(at);
    at += 2 + number_at<uint16_t>(f, at + 2, ByteOrder::kBig);
  }
  return begins;
}

}  // namespace stoker::test
