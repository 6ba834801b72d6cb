// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/strided_copy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "kernels/rows/rows.h"
#include "kernels/simd.h"
// Every CPU that Stoker runs on has the shuffles used here, so nothing is dispatched.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kVector = 16;  // bytes
const hn::Full128<uint8_t> kBytes;
using Vector = hn::VFromD<hn::Full128<uint8_t>>;

Vector load(const std::byte* p) { return hn::LoadU(kBytes, reinterpret_cast<const uint8_t*>(p)); }
void store(Vector v, std::byte* p) { hn::StoreU(v, kBytes, reinterpret_cast<uint8_t*>(p)); }

struct CopiedAxis {
  int64_t extent, from, to;  // strides in bytes
};

// Units of `unit` bytes to copy. Each axis knows its place in the output, so their order is free.
struct Box {
  const std::byte* from;
  std::byte* to;
  int64_t unit;
  int rank = 0;
  CopiedAxis axes[kMaxRank] = {};

  CopiedAxis take(int a) {
    const CopiedAxis taken = axes[a];
    std::copy(axes + a + 1, axes + rank--, axes + a);
    return taken;
  }
};

// The copy as a box with as few axes as possible. The last one is not contiguous.
Box box_of(const void* from, const Shape& shape, const Shape& strides, int64_t size, void* to) {
  Box b{static_cast<const std::byte*>(from), static_cast<std::byte*>(to), size};
  const Shape dense = View::dense_strides(shape, size);
  for (int a = 0; a < shape.rank; ++a) {
    if (shape[a] == 1) continue;
    const CopiedAxis axis{shape[a], strides[a], dense[a]};
    CopiedAxis* outer = b.rank ? &b.axes[b.rank - 1] : nullptr;
    if (outer && outer->from == axis.extent * axis.from)
      *outer = {outer->extent * axis.extent, axis.from, axis.to};
    else b.axes[b.rank++] = axis;
  }
  if (b.rank && b.axes[b.rank - 1].from == size) b.unit *= b.take(b.rank - 1).extent;
  return b;
}

// Makes the strides of an axis that was taken from the box positive in the input.
void forward(Box& box, CopiedAxis& axis) {
  if (axis.from >= 0) return;
  box.from += (axis.extent - 1) * axis.from;
  box.to += (axis.extent - 1) * axis.to;
  axis.from = -axis.from, axis.to = -axis.to;
}

// Calls copy(from, to) for each position of the axes that are left.
template <class F>
void for_each_position(const Box& box, F copy) {
  int64_t at[kMaxRank] = {};
  const std::byte* from = box.from;
  std::byte* to = box.to;
  for (int a = 0; a >= 0;) {
    copy(from, to);
    for (a = box.rank - 1; a >= 0; --a) {
      const CopiedAxis& axis = box.axes[a];
      from += axis.from, to += axis.to;
      if (++at[a] < axis.extent) break;
      from -= axis.from * axis.extent, to -= axis.to * axis.extent;
      at[a] = 0;
    }
  }
}

template <class F>
void with_unit(int64_t unit, F f) {
  const auto fixed = [&]<size_t kSize>(std::integral_constant<size_t, kSize>) {
    f([](std::byte* to, const std::byte* from) { std::memcpy(to, from, kSize); });
  };
  switch (unit) {
    case 1: return fixed(std::integral_constant<size_t, 1>());
    case 2: return fixed(std::integral_constant<size_t, 2>());
    case 3: return fixed(std::integral_constant<size_t, 3>());
    case 4: return fixed(std::integral_constant<size_t, 4>());
    case 6: return fixed(std::integral_constant<size_t, 6>());
    case 8: return fixed(std::integral_constant<size_t, 8>());
    case 12: return fixed(std::integral_constant<size_t, 12>());
    case 16: return fixed(std::integral_constant<size_t, 16>());
    default:
      f([=](std::byte* to, const std::byte* from) {
        std::memcpy(to, from, static_cast<size_t>(unit));
      });
  }
}

// By value, as the compiler takes any store of bytes to change what it reaches by reference.
template <class C>
void copy_units(C copy_unit, const std::byte* from, std::byte* to, CopiedAxis axis) {
  for (; axis.extent > 0; --axis.extent, from += axis.from, to += axis.to) copy_unit(to, from);
}
void copy_units(Box& box) {
  const CopiedAxis axis = box.take(box.rank - 1);
  for_each_position(box, [&](const std::byte* from, std::byte* to) {
    rows::copy(from, axis.from, to, axis.to, box.unit, axis.extent);
  });
}

// Cells of few bytes that follow each other in the output. Several at a time go through a vector.
class Shuffle {
 public:
  // A cell is `inner.extent` units. `outer` are the cells.
  Shuffle(int64_t unit, const CopiedAxis& inner, const CopiedAxis& outer)
      : unit_(unit), inner_(inner), outer_(outer), cell_(unit * inner.extent) {
    const int64_t last = (inner.extent - 1) * inner.from;
    lowest_ = std::min<int64_t>(last, 0);
    cell_span_ = std::abs(last) + unit;
    while (count_ < outer.extent && (count_ + 1) * cell_ <= kVector && span(count_ + 1) <= kVector)
      ++count_;
  }

  // How many bytes go through a vector; 0: a cell does not fit.
  int64_t bytes() const { return count_ * cell_; }

  void run(Box& box) const {
    // Where a vector's cells begin and end, and which of its bytes each byte of the output is.
    // Behind the cells, or before them if their order is reversed, a vector reads more.
    const int64_t low = lowest_ + std::min<int64_t>((count_ - 1) * outer_.from, 0);
    const int64_t skipped = outer_.from < 0 ? kVector - span(count_) : 0;
    alignas(kVector) uint8_t indices[kVector] = {};
    for (int64_t o = 0; o < bytes(); ++o)
      indices[o] = static_cast<uint8_t>(o / cell_ * outer_.from + o % cell_ / unit_ * inner_.from +
                                        o % unit_ - low + skipped);
    const Vector order = hn::Load(kBytes, indices);
    // How many vectors stay in the row when they are read and written whole.
    const int64_t step = outer_.from, all = outer_.extent, read_end = span(all) - kVector;
    const int64_t read = step == 0 ? all : read_end < 0 ? 0 : read_end / std::abs(step) + 1;
    const int64_t written = all * cell_ < kVector ? 0 : (all * cell_ - kVector) / cell_ + 1;
    const int64_t whole = (std::min(read, written) + count_ - 1) / count_;
    for_each_position(box, [&](const std::byte* from, std::byte* to) {
      std::byte row[kVector] = {};
      const auto fill_row = [&](int64_t i) {
        std::memcpy(row + skipped, from + i * step + low, static_cast<size_t>(span(count_)));
      };
      if (step == 0) fill_row(0);
      shuffle_whole(step ? from + low - skipped : row, to, order, whole, count_ * step, bytes());
      for (int64_t i = whole * count_; i < all; i += count_) {
        i = std::min(i, all - count_);
        fill_row(i);
        std::byte shuffled[kVector];
        store(hn::TableLookupBytes(load(row), order), shuffled);
        std::memcpy(to + i * cell_, shuffled, static_cast<size_t>(bytes()));
      }
    });
  }

 private:
  static void shuffle_whole(const std::byte* from, std::byte* to, Vector order, int64_t n,
                            int64_t from_step, int64_t to_step) {
    for (; n >= 4; n -= 4)
      for (int i = 0; i < 4; ++i, from += from_step, to += to_step)
        store(hn::TableLookupBytes(load(from), order), to);
    for (; n > 0; --n, from += from_step, to += to_step)
      store(hn::TableLookupBytes(load(from), order), to);
  }

  // The bytes from the lowest to the highest of this many cells.
  int64_t span(int64_t cells) const { return (cells - 1) * std::abs(outer_.from) + cell_span_; }

  int64_t unit_;
  CopiedAxis inner_, outer_;
  int64_t cell_, lowest_, cell_span_, count_ = 0;
};

bool shuffle(Box& box) {
  const CopiedAxis last = box.axes[box.rank - 1];
  const Shuffle units(box.unit, {1, 0, 0}, last);
  if (box.rank > 1) {
    const CopiedAxis before = box.axes[box.rank - 2];
    const Shuffle cells(box.unit, last, before);
    if (before.to == last.extent * last.to &&
        cells.bytes() >= std::max<int64_t>(units.bytes(), 1)) {
      box.rank -= 2;
      cells.run(box);
      return true;
    }
  }
  if (units.bytes() <= box.unit) return false;
  --box.rank;
  units.run(box);
  return true;
}

// Vectors of units from one row of a transposed square become vectors of its columns.
template <class T>
struct Square {
  static constexpr int64_t kUnit = sizeof(T);
  static constexpr int64_t kSide = kVector / kUnit, kLeast = kSide;

  // Row i of the result begins at to + rows[i].
  static void transpose(const std::byte* from, int64_t from_row, std::byte* to, const int64_t* rows,
                        bool) {
    Vector v[kSide];
    for (int i = 0; i < kSide; ++i) v[i] = load(from + i * from_row);
    turn(v);
    for (int i = 0; i < kSide; ++i) store(v[i], to + rows[i]);
  }

  static void turn(Vector* v) {
    const hn::Full128<T> d;
    for (int n = 1; n < kSide; n *= 2) {
      Vector w[kSide];
      for (int i = 0; i < kSide / 2; ++i) {
        const auto a = hn::BitCast(d, v[i]), b = hn::BitCast(d, v[i + kSide / 2]);
        w[2 * i] = hn::BitCast(kBytes, hn::InterleaveLower(d, a, b));
        w[2 * i + 1] = hn::BitCast(kBytes, hn::InterleaveUpper(d, a, b));
      }
      for (int i = 0; i < kSide; ++i) v[i] = w[i];
    }
  }
};

// Pixels of three values.
template <class T>
struct PixelSquare {
  static constexpr int64_t kUnit = 3 * sizeof(T), kWide = 4 * sizeof(T);
  static constexpr int64_t kSide = kVector / kWide, kLeast = 2 * kSide + 1;

  // Indices of bytes when pixels get or lose room for a fourth value. 128: a zero.
  struct Indices {
    alignas(kVector) uint8_t widen[2][kVector], narrow[kVector];
    constexpr Indices() : widen(), narrow() {
      for (int64_t i = 0; i < kVector; ++i) {
        const bool is_room = i % kWide >= kUnit;
        const int64_t index = i / kWide * kUnit + i % kWide;
        widen[0][i] = static_cast<uint8_t>(is_room ? 128 : index);
        widen[1][i] = static_cast<uint8_t>(is_room ? 128 : index + kRest);
        narrow[i] = static_cast<uint8_t>(i < kRow ? i / kUnit * kWide + i % kUnit : 128);
      }
    }
  };
  static constexpr int64_t kRow = kSide * kUnit, kRest = kVector - kRow;
  static_assert(kRow == 12);

  // A vector reads more than the row's pixels, behind them or, if `at_end`, before them.
  static void transpose(const std::byte* from, int64_t from_row, std::byte* to, const int64_t* rows,
                        bool at_end) {
    static constexpr Indices kIndices;
    const hn::Full64<uint8_t> kHalf;
    const hn::Full32<uint8_t> kQuarter;
    const Vector widen = hn::Load(kBytes, kIndices.widen[at_end]);
    const Vector narrow = hn::Load(kBytes, kIndices.narrow);
    Vector v[kSide];
    for (int i = 0; i < kSide; ++i)
      v[i] = hn::TableLookupBytesOr0(load(from + i * from_row - (at_end ? kRest : 0)), widen);
    Square<std::conditional_t<sizeof(T) == 1, uint32_t, uint64_t>>::turn(v);
    for (int i = 0; i < kSide; ++i) {
      const Vector row = hn::TableLookupBytesOr0(v[i], narrow);
      const auto low = hn::LowerHalf(kHalf, row), high = hn::UpperHalf(kHalf, row);
      auto* out = reinterpret_cast<uint8_t*>(to + rows[i]);
      hn::StoreU(low, kHalf, out);
      hn::StoreU(hn::LowerHalf(kQuarter, high), kQuarter, out + 8);
    }
  }
};

constexpr int64_t kTile = 128;  // units: the rows of a tile stay in the cache on both sides

// Units that follow each other in the input: groups of a few units each, or one group.
struct Along {
  CopiedAxis units, groups = {1, 0, 0};

  int64_t extent() const { return units.extent * groups.extent; }
  int64_t to(int64_t i) const { return i / units.extent * groups.to + i % units.extent * units.to; }
};

// Covers both axes with squares, the last ones of which overlap those before.
template <class S>
void transpose_by(const std::byte* from, std::byte* to, Along in, CopiedAxis out) {
  const int64_t width = in.extent(), height = out.extent;
  for (int64_t row = 0; row < height; row += kTile)
    for (int64_t column = 0; column < width; column += kTile)
      for (int64_t i = column; i < std::min(column + kTile, width); i += S::kSide) {
        const int64_t x = std::min(i, width - S::kSide);
        int64_t rows[S::kSide];
        for (int k = 0; k < S::kSide; ++k) rows[k] = in.to(x + k);
        for (int64_t o = row; o < std::min(row + kTile, height); o += S::kSide) {
          const int64_t y = std::min(o, height - S::kSide);
          S::transpose(from + y * out.from + x * S::kUnit, out.from, to + y * out.to, rows,
                       x + 2 * S::kSide > width);
        }
      }
}
template <class S>
bool transpose_by(Box& box, const CopiedAxis& units, const CopiedAxis& out) {
  if (box.unit != S::kUnit || units.from != box.unit || out.extent < S::kSide) return false;
  Along in{units};
  for (int a = 0; a < box.rank && in.extent() < S::kLeast; ++a) {
    if (std::abs(box.axes[a].from) != units.extent * units.from) continue;
    in.groups = box.take(a);
    forward(box, in.groups);
    break;
  }
  if (in.extent() < S::kLeast) {
    if (in.groups.extent > 1) box.axes[box.rank++] = in.groups;
    return false;
  }
  for_each_position(
      box, [&](const std::byte* from, std::byte* to) { transpose_by<S>(from, to, in, out); });
  return true;
}

// Without squares.
template <class C>
void transpose_units(C copy_unit, const std::byte* from, std::byte* to, CopiedAxis in,
                     CopiedAxis out) {
  for (int64_t row = 0; row < out.extent; row += kTile)
    for (int64_t column = 0; column < in.extent; column += kTile)
      for (int64_t i = column; i < std::min(column + kTile, in.extent); ++i)
        copy_units(copy_unit, from + row * out.from + i * in.from, to + row * out.to + i * in.to,
                   {std::min(kTile, out.extent - row), out.from, out.to});
}

// Swaps the last axis with the one whose units lie nearest to each other in the input.
bool transpose(Box& box) {
  int nearest = box.rank - 1;
  for (int a = 0; a < box.rank; ++a)
    if (std::abs(box.axes[a].from) < std::abs(box.axes[nearest].from)) nearest = a;
  if (nearest == box.rank - 1) return false;
  const CopiedAxis out = box.take(box.rank - 1);
  CopiedAxis in = box.take(nearest);
  forward(box, in);
  if (transpose_by<Square<uint8_t>>(box, in, out) || transpose_by<Square<uint16_t>>(box, in, out) ||
      transpose_by<Square<uint32_t>>(box, in, out) ||
      transpose_by<Square<uint64_t>>(box, in, out) ||
      transpose_by<PixelSquare<uint8_t>>(box, in, out) ||
      transpose_by<PixelSquare<uint16_t>>(box, in, out))
    return true;
  with_unit(box.unit, [&](auto copy_unit) {
    for_each_position(box, [&](const std::byte* from, std::byte* to) {
      transpose_units(copy_unit, from, to, in, out);
    });
  });
  return true;
}

bool suits_rows(const Box& box) {
  if (box.unit != 1 && box.unit != 2 && box.unit != 4) return false;
  auto bits = reinterpret_cast<uintptr_t>(box.from) | reinterpret_cast<uintptr_t>(box.to);
  for (int a = 0; a < box.rank; ++a)
    bits |= static_cast<uintptr_t>(box.axes[a].from) | static_cast<uintptr_t>(box.axes[a].to);
  return bits % static_cast<uintptr_t>(box.unit) == 0;
}

// Mirrored rows, pixels whose channels become planes, and planes that become pixels.
bool copy_rows(Box& box) {
  if (!suits_rows(box)) return false;
  const int64_t unit = box.unit;
  const int size = static_cast<int>(unit), last = box.rank - 1;
  const CopiedAxis inner = box.axes[last];
  if (inner.from == -unit && inner.extent * unit >= 8 * kVector) {
    box.take(last);
    const int64_t first = (inner.extent - 1) * inner.from;
    for_each_position(box, [&](const std::byte* from, std::byte* to) {
      rows::reverse(from + first, to, size, inner.extent);
    });
    return true;
  }
  const auto is_pixel = [](const CopiedAxis& a) { return a.extent >= 2 && a.extent <= 4; };
  for (int a = 0; a < last; ++a) {
    CopiedAxis outer = box.axes[a];
    const bool splits =
        is_pixel(outer) && std::abs(outer.from) == unit && inner.from == outer.extent * unit;
    const bool joins = is_pixel(inner) && outer.from == unit && outer.to == inner.extent * unit;
    if (!splits && !joins) continue;
    box.take(last), box.take(a);
    if (splits) forward(box, outer);
    for_each_position(box, [&](const std::byte* from, std::byte* to) {
      if (splits)
        rows::split(from, size, static_cast<int>(outer.extent), to, outer.to, inner.extent);
      else rows::join(from, inner.from, size, static_cast<int>(inner.extent), to, outer.extent);
    });
    return true;
  }
  return false;
}

}  // namespace

void copy_to_dense(const void* from, const Shape& shape, const Shape& strides, int64_t size,
                   void* to) {
  if (shape.volume() == 0 || size == 0) return;
  Box box = box_of(from, shape, strides, size, to);
  if (box.rank == 0) return rows::copy(box.from, 0, box.to, 0, box.unit, 1);
  if (!copy_rows(box) && !shuffle(box) && !transpose(box)) copy_units(box);
}

}  // namespace stoker
HWY_AFTER_NAMESPACE();
