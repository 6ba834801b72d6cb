// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/jpeg/upsample.h"

#include <algorithm>
#include <cstring>

#include "kernels/jpeg/arithmetic.h"

#include "kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/jpeg/upsample.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stoker::jpeg {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
using Words = hn::ScalableTag<uint16_t>;
using Word = hn::Vec<Words>;

HWY_INLINE Word LoadBytes(const uint8_t* p) {
  return hn::PromoteTo(Words(), hn::LoadU(hn::Rebind<uint8_t, Words>(), p));
}
HWY_INLINE Word Triple(Word v) { return hn::Add(v, hn::Add(v, v)); }

// Two pixels for each sample: those between it and its neighbours.
template <bool kRowsToo>
HWY_INLINE Word MakePixels(const uint8_t* near, const uint8_t* far) {
  const auto sum = [&](int64_t x) HWY_ATTR {
    return kRowsToo ? hn::Add(Triple(LoadBytes(near + x)), LoadBytes(far + x))
                    : LoadBytes(near + x);
  };
  constexpr int kShift = kRowsToo ? 4 : 2;
  constexpr uint16_t kEven = kRowsToo ? 8 : 1, kOdd = kRowsToo ? 7 : 2;
  const Word three = Triple(sum(0));
  const Word even = hn::Add(hn::Add(three, sum(-1)), hn::Set(Words(), kEven));
  const Word odd = hn::Add(hn::Add(three, sum(1)), hn::Set(Words(), kOdd));
  // The odd one becomes the upper byte.
  const Word upper = hn::AndNot(hn::Set(Words(), 0xff), hn::ShiftLeft<8 - kShift>(odd));
  return hn::Or(hn::ShiftRight<kShift>(even), upper);
}

// Vectors are stored where those of a row from `begin` on lie, as they are loaded like that.
template <bool kRowsToo>
HWY_INLINE int64_t UpsampleVectors(const uint8_t* near, const uint8_t* far, int64_t begin,
                                   int64_t first, int64_t last, uint8_t* out) {
  const hn::ScalableTag<uint8_t> bytes;
  const auto lanes = static_cast<int64_t>(hn::Lanes(Words()));
  while (last - first >= lanes) {
    const Word pixels = MakePixels<kRowsToo>(near + first, kRowsToo ? far + first : nullptr);
    hn::StoreU(hn::BitCast(bytes, pixels), bytes, out + 2 * first);
    if (first + lanes == last) return last;
    first += lanes - (first - begin) % lanes;
    first = std::min(first, last - lanes);  // makes some pixels twice
  }
  return first;
}
#endif

// Makes the pixels of samples [first, last), which all have both neighbours, of a row made from
// `begin` on. `far` is null where only columns are halved; `out` is for sample 0. Returns where the
// rest begins.
#if HWY_TARGET == HWY_SCALAR
int64_t UpsampleColumns(const uint8_t*, const uint8_t*, int64_t, int64_t first, int64_t, uint8_t*) {
  return first;
}
#else
int64_t UpsampleColumns(const uint8_t* near, const uint8_t* far, int64_t begin, int64_t first,
                        int64_t last, uint8_t* out) {
  return far ? UpsampleVectors<true>(near, far, begin, first, last, out)
             : UpsampleVectors<false>(near, far, begin, first, last, out);
}
#endif

void UpsampleRows(const uint8_t* near, const uint8_t* far, int64_t y, int64_t n, uint8_t* out) {
  int64_t x = 0;
#if HWY_TARGET != HWY_SCALAR
  const auto lanes = static_cast<int64_t>(hn::Lanes(Words()));
  const Word rounding = hn::Set(Words(), static_cast<uint16_t>(1 + y % 2));
  const hn::Rebind<uint8_t, Words> bytes;
  for (; x + lanes <= n; x += lanes) {
    const Word sum = hn::Add(Triple(LoadBytes(near + x)), LoadBytes(far + x));
    hn::StoreU(hn::DemoteTo(bytes, hn::BitCast(hn::RebindToSigned<Words>(),
                                               hn::ShiftRight<2>(hn::Add(sum, rounding)))),
               bytes, out + x);
  }
#endif
  for (; x < n; ++x) out[x] = static_cast<uint8_t>(across(near[x], far[x], y));
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker::jpeg
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker::jpeg {
namespace {

HWY_EXPORT(UpsampleColumns);
HWY_EXPORT(UpsampleRows);

// Makes both pixels of samples [begin, end) of a row; `far` is null where only columns are halved.
void upsample_columns(const Component& c, const uint8_t* near, const uint8_t* far, int64_t begin,
                      int64_t end, uint8_t* out) {
  out -= 2 * begin;
  const auto sum = [&](int64_t x) { return across_rows(near[x], far[x]); };
  const auto make = [&](int64_t first, int64_t last) {
    for (int64_t p = 2 * first; p < 2 * last; ++p) {
      const int64_t x = p / 2, beside = far_of(p, c.columns);
      out[p] = static_cast<uint8_t>(far ? across_columns(sum(x), sum(beside), p)
                                        : across(near[x], near[beside], p));
    }
  };
  const int64_t first = std::max<int64_t>(begin, 1), last = std::min(end, c.columns - 1);
  make(begin, first);
  make(HWY_DYNAMIC_DISPATCH(UpsampleColumns)(near, far, begin, first, last, out), end);
}

// n / factor, without a slow division by a number that is not known.
int64_t quotient(int64_t n, int factor) {
  return factor == 1 ? n : factor == 2 ? n / 2 : n / factor;
}

void repeat(const uint8_t* row, int64_t begin, int64_t end, int times, uint8_t* out) {
  if (times == 1) return void(std::memcpy(out, row + begin, static_cast<size_t>(end - begin)));
  for (int64_t x = begin; x < end; ++x, out += times)
    std::memset(out, row[x], static_cast<size_t>(times));
}

}  // namespace

bool Component::is_smooth() const {
  return (across == 1 && down == 2) || (across == 2 && down <= 2 && columns > 2);
}

void upsample(const Component& c, int64_t y, int64_t begin, int64_t end, uint8_t* out) {
  begin = quotient(begin, c.across), end = quotient(end + c.across - 1, c.across);
  const uint8_t* near = c.row(quotient(y, c.down));
  if (!c.is_smooth()) return repeat(near, begin, end, c.across, out);
  const uint8_t* far = c.down == 1 ? nullptr : c.row(far_of(y, c.rows));
  if (c.across == 2) return upsample_columns(c, near, far, begin, end, out);
  HWY_DYNAMIC_DISPATCH(UpsampleRows)(near + begin, far + begin, y, end - begin, out);
}

}  // namespace stoker::jpeg
#endif
