// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Resizes to 224 x 224 with an antialiased triangle filter, mirrors, normalises and lays out, in
// one pass over memory, in 16-bit fixed point. Uses AVX-512 with VNNI if the compiler may.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "decode.h"

namespace limit {

inline constexpr int kSize = 224;

const char* resize_form();

// The inputs that each output along one axis takes. Weights are in units of 1/16384, and each
// output has an even number of them. At its edges a window takes pixels around it, as in Stoker.
struct Axis {
  int begin = 0, end = 0;  // range of all inputs that are taken
  std::array<int, kSize> first, count;  // first counts from `begin`
  int taps = 0;
  std::vector<int16_t> weights;

  // Prepares for the window [low, low + extent) of `whole` pixels.
  void make(int low, int extent, int whole, bool mirrored);
  const int16_t* of(int output) const { return weights.data() + output * taps; }
};

// The horizontal weights for groups of 16 outputs, each of which takes from 64 neighbouring inputs.
struct Groups {
  static constexpr int kCount = kSize / 16;
  std::array<int, kCount> base;
  std::vector<int16_t> index, weights;

  // Returns false if some outputs reach further.
  bool make(const Axis& axis);
};

class Resizer {
 public:
  // Returns the window that has to be decoded for `w`.
  Window plan(const Window& w, const Size& picture);
  // `in` is what plan() asked for. `out` gets three planes, (value - mean) / deviation.
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
