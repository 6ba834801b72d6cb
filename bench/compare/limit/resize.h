// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Antialiased triangle filter to 224 x 224, mirror, normalise and layout in one pass over memory,
// in 16-bit fixed point. Uses AVX-512 with VNNI where the compiler may, else plain loops. For one
// thread.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "decode.h"

namespace limit {

inline constexpr int kSize = 224;

// "AVX-512" or "plain C++".
const char* resize_form();

// Which inputs the outputs along one axis take. Weights are in units of 1/16384, an even number of
// them for each output. At its edges a window takes pixels of the picture around it, as Stoker's
// does.
struct Axis {
  int begin = 0, end = 0;  // range of all inputs taken
  std::array<int, kSize> first, count;  // first counts from `begin`
  int taps = 0;
  std::vector<int16_t> weights;

  // Prepares for the window [low, low + extent) of `whole` pixels.
  void make(int low, int extent, int whole, bool mirrored);
  const int16_t* of(int output) const { return weights.data() + output * taps; }
};

// The horizontal weights for 16 outputs at a time, which take from 64 neighbouring inputs.
struct Groups {
  static constexpr int kCount = kSize / 16;
  std::array<int, kCount> base;
  std::vector<int16_t> index, weights;

  // Returns false where some outputs reach further.
  bool make(const Axis& axis);
};

class Resizer {
 public:
  // Prepares for a window. Returns the window that must be decoded for it.
  Window plan(const Window& w, const Size& picture);
  // `in` is what plan() asked for. `out` gets three planes of 224 x 224, (value - mean) /
  // deviation.
  void run(const Region& in, float* out);

 private:
  void vertical(const Region& in, int output, int bytes);
  void horizontal(float* out) const;
  void horizontal_in_groups(int width, float* out);

  Axis rows_, columns_;
  Groups groups_;
  std::vector<int16_t> row_, planes_[3];
};

}  // namespace limit
