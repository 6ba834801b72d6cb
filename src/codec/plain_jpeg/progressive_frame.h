// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What our own decoder needs to know of a progressive JPEG file, and which of them are its.
//
// Note [Progressive files]
// These are as plain files otherwise (Note [Plain files] of frame.h), and tell of all coefficients
// of all components in full. Scans may come in any order in which each begins where the ones before
// it end: a first scan of each coefficient, then one for each lower bit. What libjpeg-turbo warns
// of in scans, or smooths because bits are missing, is left to it. So is what hardly any program
// writes: other segments than codes and restart intervals between scans, or more than kMostScans.
//
// libjpeg-turbo reads each scan to its end before the next. All of them are found first here, by
// their markers, and then read at once, a few rows at a time, so that coefficients stay in a CPU's
// caches, memory grows with a picture's width only, and what lies below a window is not read.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "codec/plain_jpeg/frame.h"

namespace stoker {

inline constexpr int kMostScans = 64;

struct ProgressiveScan {
  int count = 0;  // of components, in the order of the frame
  int components[3] = {};
  int first = 0, last = 0;  // positions of coefficients; both 0: DC
  bool refines = false;
  int shift = 0;  // lower bits that are left out
  jpeg::HuffmanCode codes[3];  // of the components; none to refine DC; they lie in the file
  int64_t restart_interval = 0;  // in MCUs of the scan; 0: none
  size_t data = 0;  // offset
  uint8_t next = 0;  // the marker behind the data

  bool is_dc() const { return last == 0; }
};

struct ProgressiveFrame {
  PlainFrame frame;  // without codes and data
  std::vector<ProgressiveScan> scans;
};

// Reads all segments up to the end of the picture. None if the file is no such one.
std::optional<ProgressiveFrame> read_progressive_frame(std::span<const uint8_t> bytes);

}  // namespace stoker
