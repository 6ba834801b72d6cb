// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/jpeg/ycc.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/jpeg/arithmetic.h"

#include "kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/jpeg/ycc.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/pairs_inl.h"

HWY_BEFORE_NAMESPACE();
namespace stoker::jpeg {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR
void MakeColors(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, uint8_t* out, int64_t n,
                bool blue_first) {
  for (int64_t x = 0; x < n; ++x, out += 3) {
    set_rgb(y[x], cb[x], cr[x], out);
    if (blue_first) std::swap(out[0], out[2]);
  }
}
#else
using pairs::HWY_NAMESPACE::Bytes;
using pairs::HWY_NAMESPACE::Longs;
using pairs::HWY_NAMESPACE::PackBytes;
using pairs::HWY_NAMESPACE::SetPairs;
using pairs::HWY_NAMESPACE::SumPairs;
using pairs::HWY_NAMESPACE::Words;
using Word = hn::Vec<Words>;

// v * weight / 2^16, rounded. Requires: 2 * v fits.
HWY_INLINE Word MulFraction(Word v, int16_t weight) {
  const Word twice = hn::MulHigh(hn::Add(v, v), hn::Set(Words(), weight));
  return hn::ShiftRight<1>(hn::Add(twice, hn::Set(Words(), 1)));
}
// (-22554 * cb - 46802 * cr) / 2^16, rounded, where the second weight is kept within 16 bits.
HWY_INLINE Word GreenOf(Word cb, Word cr) {
  const Word weights = SetPairs(-22554, 65536 - 46802);
  const auto half = hn::Set(Longs(), 1 << 15);
  const auto low = SumPairs(hn::InterleaveLower(Words(), cb, cr), weights),
             high = SumPairs(hn::InterleaveUpper(Words(), cb, cr), weights);
  return hn::Sub(hn::ReorderDemote2To(Words(), hn::ShiftRight<16>(hn::Add(low, half)),
                                      hn::ShiftRight<16>(hn::Add(high, half))),
                 cr);
}
struct Colors {
  Word red, green, blue;

  // Weights above 1/2 are 1 or 2, and a fraction.
  HWY_INLINE Colors(Word y, Word cb, Word cr) {
    red = hn::Add(y, hn::Add(cr, MulFraction(cr, 91881 - 65536)));
    green = hn::Add(y, GreenOf(cb, cr));
    blue = hn::Add(y, hn::Add(hn::Add(cb, cb), MulFraction(cb, 116130 - 2 * 65536)));
  }
};

HWY_INLINE void MakeVector(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, uint8_t* out,
                           bool blue_first) {
  const auto zero = hn::Zero(Bytes());
  const Word middle = hn::Set(Words(), 128);
  const auto lower = [&](const uint8_t* p) HWY_ATTR {
    return hn::BitCast(Words(), hn::InterleaveLower(Bytes(), hn::LoadU(Bytes(), p), zero));
  };
  const auto upper = [&](const uint8_t* p) HWY_ATTR {
    return hn::BitCast(Words(), hn::InterleaveUpper(Bytes(), hn::LoadU(Bytes(), p), zero));
  };
  const Colors a(lower(y), hn::Sub(lower(cb), middle), hn::Sub(lower(cr), middle));
  const Colors b(upper(y), hn::Sub(upper(cb), middle), hn::Sub(upper(cr), middle));
  auto red = PackBytes(a.red, b.red), blue = PackBytes(a.blue, b.blue);
  if (blue_first) std::swap(red, blue);
  hn::StoreInterleaved3(red, PackBytes(a.green, b.green), blue, Bytes(), out);
}

// For less than a vector.
void MakeFew(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, uint8_t* out, size_t n,
             bool blue_first) {
  HWY_ALIGN uint8_t in[3][HWY_MAX_BYTES] = {}, pixels[3 * HWY_MAX_BYTES];
  std::memcpy(in[0], y, n);
  std::memcpy(in[1], cb, n);
  std::memcpy(in[2], cr, n);
  MakeVector(in[0], in[1], in[2], pixels, blue_first);
  std::memcpy(out, pixels, 3 * n);
}
void MakeColors(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, uint8_t* out, int64_t n,
                bool blue_first) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(Bytes()));
  if (n < lanes) return MakeFew(y, cb, cr, out, static_cast<size_t>(n), blue_first);
  for (int64_t x = 0; x < n; x += lanes) {
    x = std::min(x, n - lanes);  // makes some pixels twice
    MakeVector(y + x, cb + x, cr + x, out + 3 * x, blue_first);
  }
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace stoker::jpeg
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker::jpeg {

HWY_EXPORT(MakeColors);

void ycc_to_rgb(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, uint8_t* out, int64_t n,
                bool blue_first) {
  HWY_DYNAMIC_DISPATCH(MakeColors)(y, cb, cr, out, n, blue_first);
}

}  // namespace stoker::jpeg
#endif
