// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/rows/transpose.h"

#include <algorithm>

#include "kernels/rows/rows.h"

#include "kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows/transpose.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stoker::rows {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR
bool TransposeBlock(const uint8_t*, int64_t, uint8_t*, int64_t, int) { return false; }
#else

// Each round interleaves the first half of the vectors with the second. After as many rounds as the
// number of vectors has bits, rows are columns.
template <class T>
void TransposeSquare(const uint8_t* from, int64_t from_stride, uint8_t* to, int64_t to_stride) {
  const hn::Full128<T> d;
  const hn::Full128<uint8_t> bytes;  // values may lie at any address
  constexpr int kRows = 16 / sizeof(T);
  hn::Vec<decltype(d)> v[kRows], w[kRows];
  for (int i = 0; i < kRows; ++i) v[i] = hn::BitCast(d, hn::LoadU(bytes, from + i * from_stride));
  for (int n = kRows; n > 1; n /= 2) {
    for (int i = 0; i < kRows / 2; ++i) {
      w[2 * i] = hn::InterleaveLower(d, v[i], v[i + kRows / 2]);
      w[2 * i + 1] = hn::InterleaveUpper(d, v[i], v[i + kRows / 2]);
    }
    for (int i = 0; i < kRows; ++i) v[i] = w[i];
  }
  for (int i = 0; i < kRows; ++i) hn::StoreU(hn::BitCast(bytes, v[i]), bytes, to + i * to_stride);
}

// Transposes as many rows as 16 bytes have values. False where there is no code for the size.
bool TransposeBlock(const uint8_t* from, int64_t from_stride, uint8_t* to, int64_t to_stride,
                    int size) {
  switch (size) {
    case 1: TransposeSquare<uint8_t>(from, from_stride, to, to_stride); return true;
    case 2: TransposeSquare<uint16_t>(from, from_stride, to, to_stride); return true;
    case 4: TransposeSquare<uint32_t>(from, from_stride, to, to_stride); return true;
    case 8: TransposeSquare<uint64_t>(from, from_stride, to, to_stride); return true;
    default: return false;
  }
}
#endif

// Makes a column of blocks, the last of which ends where the column ends. Returns whether it did.
bool TransposeBlocks(const uint8_t* from, int64_t from_stride, uint8_t* to, int64_t to_stride,
                     int size, int64_t columns) {
  const int64_t block = 16 / size;
  for (int64_t k = 0; k < columns; k += block) {
    const int64_t at = std::min(k, columns - block);
    if (!TransposeBlock(from + at * from_stride, from_stride, to + at * size, to_stride, size))
      return false;
  }
  return true;
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker::rows
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker::rows {
namespace {

HWY_EXPORT(TransposeBlocks);

// A tile reads about a cache line of each of its input rows, and writes long pieces of few rows.
constexpr int64_t kRows = 64, kColumns = 256;

// Requires: a tile's rows and columns are at least those of a block.
bool transpose_tile(const std::byte* from, int64_t from_stride, std::byte* to, int64_t to_stride,
                    int size, int64_t rows, int64_t columns) {
  const int64_t block = 16 / size;
  for (int64_t i = 0; i < rows; i += block) {
    const int64_t at = std::min(i, rows - block);
    if (!HWY_DYNAMIC_DISPATCH(TransposeBlocks)(
            reinterpret_cast<const uint8_t*>(from + at * size), from_stride,
            reinterpret_cast<uint8_t*>(to + at * to_stride), to_stride, size, columns))
      return false;
  }
  return true;
}

void copy_tile(const std::byte* from, int64_t from_stride, std::byte* to, int64_t to_stride,
               int size, int64_t rows, int64_t columns) {
  for (int64_t i = 0; i < rows; ++i)
    copy(from + i * size, from_stride, to + i * to_stride, size, size, columns);
}

}  // namespace

void transpose(const std::byte* from, int64_t from_stride, std::byte* to, int64_t to_stride,
               int size, int64_t rows, int64_t columns) {
  const bool has_vectors = size == 1 || size == 2 || size == 4 || size == 8;
  const int64_t block = has_vectors ? 16 / size : 0;
  for (int64_t y = 0; y < rows; y += kRows)
    for (int64_t x = 0; x < columns; x += kColumns) {
      const int64_t h = std::min(kRows, rows - y), w = std::min(kColumns, columns - x);
      const std::byte* in = from + y * size + x * from_stride;
      std::byte* out = to + y * to_stride + x * size;
      const bool is_done = has_vectors && h >= block && w >= block &&
                           transpose_tile(in, from_stride, out, to_stride, size, h, w);
      if (!is_done) copy_tile(in, from_stride, out, to_stride, size, h, w);
    }
}

}  // namespace stoker::rows
#endif
