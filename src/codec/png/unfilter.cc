// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A pixel depends on the one to its left, so vectors wider than a pixel would not help. These are
// the compiler's own: all levels of the CPU run the same code.
#include "codec/png/unfilter.h"

#include <cstdlib>
#include <cstring>

namespace stoker {
namespace {

using Bytes = uint8_t __attribute__((vector_size(8)));
using Shorts = int16_t __attribute__((vector_size(16)));

// The bytes of a pixel, and some behind it that mean nothing.
template <int kStep>
Bytes load(const uint8_t* at) {
  Bytes v{};
  std::memcpy(&v, at, kStep <= 4 ? 4 : 8);
  return v;
}

// What is written behind the pixel is overwritten by the next one.
template <int kStep>
void store(uint8_t* at, Bytes v) {
  std::memcpy(at, &v, kStep <= 4 ? 4 : 8);
}

Shorts widened(Bytes v) { return __builtin_convertvector(v, Shorts); }
Bytes narrowed(Shorts v) { return __builtin_convertvector(v, Bytes); }

template <int kStep>
void undo_sub(const uint8_t* from, uint8_t* row, int64_t size) {
  Bytes left{};
  for (int64_t i = 0; i < size; i += kStep) {
    left += load<kStep>(from + i);
    store<kStep>(row + i, left);
  }
}

void undo_up(const uint8_t* from, const uint8_t* above, uint8_t* row, int64_t size) {
  for (int64_t i = 0; i < size; ++i) row[i] = static_cast<uint8_t>(from[i] + above[i]);
}

// (left + above) / 2 is what is common, and half of what differs.
template <int kStep>
void undo_average(const uint8_t* from, const uint8_t* above, uint8_t* row, int64_t size) {
  Bytes left{};
  for (int64_t i = 0; i < size; i += kStep) {
    const Bytes up = load<kStep>(above + i);
    left = load<kStep>(from + i) + (left & up) + ((left ^ up) >> 1);
    store<kStep>(row + i, left);
  }
}

Shorts absolute(Shorts v) { return v < 0 ? -v : v; }

// The neighbour that is nearest to left + up - corner; of equal ones the first.
Shorts nearest(Shorts left, Shorts up, Shorts corner) {
  const Shorts to_left = up - corner, to_up = left - corner;
  const Shorts a = absolute(to_left), b = absolute(to_up), c = absolute(to_left + to_up);
  const Shorts other = b <= c ? up : corner;
  return ((a <= b) & (a <= c)) ? left : other;
}

template <int kStep>
void undo_paeth(const uint8_t* from, const uint8_t* above, uint8_t* row, int64_t size) {
  Shorts left{}, corner{};
  for (int64_t i = 0; i < size; i += kStep) {
    const Shorts up = widened(load<kStep>(above + i));
    const Bytes pixel = load<kStep>(from + i) + narrowed(nearest(left, up, corner));
    store<kStep>(row + i, pixel);
    left = widened(pixel);
    corner = up;
  }
}

template <int kStep>
void undo(int filter, const uint8_t* from, const uint8_t* above, uint8_t* row, int64_t size) {
  switch (filter) {
    case 1: return undo_sub<kStep>(from, row, size);
    case 2: return undo_up(from, above, row, size);
    case 3: return undo_average<kStep>(from, above, row, size);
    case 4: return undo_paeth<kStep>(from, above, row, size);
    default: std::memcpy(row, from, static_cast<size_t>(size));
  }
}

}  // namespace

void unfilter(int filter, int step, const uint8_t* filtered, const uint8_t* above, uint8_t* row,
              int64_t size) {
  switch (step) {
    case 1: return undo<1>(filter, filtered, above, row, size);
    case 2: return undo<2>(filter, filtered, above, row, size);
    case 3: return undo<3>(filter, filtered, above, row, size);
    case 4: return undo<4>(filter, filtered, above, row, size);
    case 6: return undo<6>(filter, filtered, above, row, size);
    default: return undo<8>(filter, filtered, above, row, size);
  }
}

}  // namespace stoker
