// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Fixed-point resampling: weighted sums of rows, then of values along a line. See Note [Lines].
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "kernels/resample/fixed_point.h"
#include "kernels/rows/line.h"

#include "kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows/line.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/rows/line_taps_inl.h"
#include "kernels/rows/narrow_inl.h"

HWY_BEFORE_NAMESPACE();
namespace stoker::rows {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

void SumRows(const uint8_t* first, int64_t stride, const int16_t* weights, int taps, int64_t n,
             int16_t* out, bool) {
  for (int64_t i = 0; i < n; ++i) {
    int32_t sum = 0;
    for (int t = 0; t < taps; ++t) sum += weights[t] * first[t * stride + i];
    out[i] = fixed_between_u8(sum);
  }
}

void SumLines(const Lines& l, const LineTaps& t, bool) {
  for (int64_t k = 0; k < l.count; ++k)
    for (int64_t o = 0; o < t.count; ++o) {
      const int16_t* line = l.values + k * l.pitch + t.first[o];
      int32_t sum = 0;
      for (int i = 0; i < 2 * t.pairs; ++i) sum += t.weights[2 * t.pairs * o + i] * line[i];
      const uint8_t v = fixed_result(sum);
      auto* out = static_cast<std::byte*>(l.out) + k * l.out_pitch;
      if (!l.steps) out[o] = std::byte(v);
      else
        pointwise_row(&v, DType::kUint8, out + o * size_of(l.steps[k].to), l.steps[k].to, 1,
                      l.steps[k].sub, l.steps[k].mul, l.steps[k].add, l.steps[k].div);
    }
}

void SplitWords(const int16_t* pixels, int channels, int16_t* planes, int64_t pitch, int64_t n) {
  for (int64_t i = 0; i < n * channels; ++i)
    planes[i % channels * pitch + i / channels] = pixels[i];
}

#else

using D16 = hn::ScalableTag<int16_t>;
using D32 = hn::RepartitionToWide<D16>;
using D8 = hn::Repartition<uint8_t, D16>;
using V16 = hn::Vec<D16>;
using V32 = hn::Vec<D32>;

// AddProducts adds to what Start gives, and End makes the sum of it, rounded by `half`. Some CPUs
// spread a sum over two vectors, whose lanes End puts in order; only then can `half` be added.
#if HWY_ARCH_X86
HWY_INLINE V32 Start(int32_t half) { return hn::Set(D32(), half); }
HWY_INLINE V32 End(V32 sum, V32, int32_t) { return sum; }
#else
HWY_INLINE V32 Start(int32_t) { return hn::Zero(D32()); }
HWY_INLINE V32 End(V32 sum, V32 other, int32_t half) {
  return hn::Add(hn::RearrangeToOddPlusEven(sum, other), hn::Set(D32(), half));
}
#endif

// What a vector of results becomes: bytes, or floats or halves after one step. A vector of any of
// these has as many lanes as one of floats.
struct Bytes {
  using Value = uint8_t;
  HWY_INLINE void Put(V32 v, Value* to) const {
    const hn::Rebind<uint8_t, D32> d;
    hn::StoreU(hn::DemoteTo(d, v), d, to);
  }
};
template <DType kType, class V>
struct Stepped {
  using Value = V;
  F sub, mul, add, div;
  bool within, divides;
  HWY_INLINE Stepped(const ValueStep& s, bool within)
      : sub(hn::Set(df, s.sub)),
        mul(hn::Set(df, s.mul)),
        add(hn::Set(df, s.add)),
        div(hn::Set(df, s.div)),
        within(within),
        divides(s.div != 1) {}
  HWY_INLINE void Put(V32 v, Value* to) const {
    if (!within) v = hn::Min(hn::Max(v, hn::Zero(D32())), hn::Set(D32(), 255));
    F x = hn::Mul(hn::Sub(hn::ConvertTo(df, v), sub), mul);
    if (divides) x = hn::Div(x, div);
    Store(kType, hn::Add(x, add), to);
  }
};

template <class Out>
HWY_INLINE void PutSome(const Out& out, V32 v, typename Out::Value* to, int64_t n) {
  if (n >= static_cast<int64_t>(hn::Lanes(D32()))) return out.Put(v, to);
  HWY_ALIGN typename Out::Value all[HWY_MAX_BYTES / 4];
  out.Put(v, all);
  std::memcpy(to, all, static_cast<size_t>(n) * sizeof all[0]);
}

// Loads values of a line. Pick takes from them the pair of values for each result of a vector.
#if HWY_TARGET <= HWY_AVX3
struct Near {
  __m512i even, odd;
  HWY_INLINE Near(const int16_t* line, const int32_t* first)
      : even(_mm512_loadu_si512(line + first[0])), odd(_mm512_loadu_si512(line + first[0] + 1)) {}
  HWY_INLINE V16 Pick(V32 index) const {
    return V16{_mm512_permutex2var_epi32(even, index.raw, odd)};
  }
};
struct Far {
  __m512i low, high;
  HWY_INLINE Far(const int16_t* line, const int32_t* first)
      : low(_mm512_loadu_si512(line + first[0])), high(_mm512_loadu_si512(line + first[0] + 32)) {}
  HWY_INLINE V16 Pick(V32 index) const {
    return V16{_mm512_permutex2var_epi16(low, index.raw, high)};
  }
};
constexpr int kIndexStep = 1;
#else
struct Near {
  V16 v;
  HWY_INLINE Near(const int16_t* line, const int32_t* first) {
    const hn::Full128<int16_t> block;
    const auto low = hn::LoadU(block, line + first[0]);
#if HWY_TARGET == HWY_AVX2
    v = hn::Combine(D16(), hn::LoadU(block, line + first[1]), low);
#else
    v = low;
#endif
  }
  HWY_INLINE V16 Pick(V32 index) const {
    return hn::TableLookupBytes(v, hn::BitCast(D16(), index));
  }
};
using Far = Near;
constexpr int kIndexStep = 0x04040404;
#endif

// Loads eight neighbouring values into each block b, from first[4 b] on.
HWY_INLINE V16 LoadEights(const int16_t* line, const int32_t* first) {
  const hn::Full128<int16_t> block;
  const auto a = hn::LoadU(block, line + first[0]);
#if HWY_TARGET <= HWY_AVX3
  const hn::Full256<int16_t> half;
  const auto b = hn::LoadU(block, line + first[4]), c = hn::LoadU(block, line + first[8]),
             d = hn::LoadU(block, line + first[12]);
  return hn::Combine(D16(), hn::Combine(half, d, c), hn::Combine(half, b, a));
#elif HWY_TARGET == HWY_AVX2
  return hn::Combine(D16(), hn::LoadU(block, line + first[4]), a);
#else
  return a;
#endif
}

HWY_INLINE V32 AddHalves(V32 a, V32 b) {
  return hn::Add(hn::InterleaveLower(D32(), a, b), hn::InterleaveUpper(D32(), a, b));
}
// Lane j of each block is the sum of that block in v[j].
HWY_INLINE V32 SumsOfBlocks(const V32* v) {
  const hn::RepartitionToWide<D32> d64;
  const auto a = hn::BitCast(d64, AddHalves(v[0], v[1])),
             b = hn::BitCast(d64, AddHalves(v[2], v[3]));
  return hn::Add(hn::BitCast(D32(), hn::InterleaveLower(d64, a, b)),
                 hn::BitCast(D32(), hn::InterleaveUpper(d64, a, b)));
}

// Stores columns in order. Of each 16, `low` has 0 2 4 6 1 3 5 7 and `high` the others likewise.
HWY_INLINE void StoreColumns(V16 low, V16 high, int16_t* out) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D16()));
#if HWY_TARGET <= HWY_AVX3
  HWY_ALIGN static constexpr uint16_t kOrder[32] = {0,  4,  1,  5,  2,  6,  3,  7,  32, 36, 33,
                                                    37, 34, 38, 35, 39, 8,  12, 9,  13, 10, 14,
                                                    11, 15, 40, 44, 41, 45, 42, 46, 43, 47};
  const __m512i order = _mm512_load_si512(kOrder);
  const __m512i rest = _mm512_add_epi16(order, _mm512_set1_epi16(16));
  _mm512_storeu_si512(out, _mm512_permutex2var_epi16(low.raw, order, high.raw));
  _mm512_storeu_si512(out + lanes, _mm512_permutex2var_epi16(low.raw, rest, high.raw));
#else
  HWY_ALIGN static constexpr uint8_t kOrder[16] = {0, 1, 8,  9,  2, 3, 10, 11,
                                                   4, 5, 12, 13, 6, 7, 14, 15};
  const V16 order = hn::BitCast(D16(), hn::LoadDup128(D8(), kOrder));
  low = hn::TableLookupBytes(low, order);
  high = hn::TableLookupBytes(high, order);
#if HWY_TARGET == HWY_AVX2
  hn::StoreU(hn::ConcatLowerLower(D16(), high, low), D16(), out);
  hn::StoreU(hn::ConcatUpperUpper(D16(), high, low), D16(), out + lanes);
#else
  hn::StoreU(low, D16(), out);
  hn::StoreU(high, D16(), out + lanes);
#endif
#endif
}

namespace plain {
// Adds the products 2 i and 2 i + 1 to lane i of the sum, which is complete after End.
HWY_INLINE void AddProducts(V16 a, V16 b, V32& sum, V32& other) {
  sum = hn::ReorderWidenMulAccumulate(D32(), a, b, sum, other);
}
#define STOKER_LAMBDA HWY_ATTR
#include "kernels/rows/fixed_loops_inl.h"
#undef STOKER_LAMBDA
}  // namespace plain

#if HWY_TARGET <= HWY_AVX3
}  // namespace HWY_NAMESPACE
}  // namespace stoker::rows
HWY_AFTER_NAMESPACE();
// Highway has a target with VNNI, but that needs instructions that CPUs with VNNI may lack.
HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR ",avx512vnni")
namespace stoker::rows {
namespace HWY_NAMESPACE {
namespace vnni {
HWY_INLINE void AddProducts(V16 a, V16 b, V32& sum, V32&) {
  sum = V32{_mm512_dpwssd_epi32(sum.raw, a.raw, b.raw)};
}
#define STOKER_LAMBDA __attribute__((target(HWY_TARGET_STR ",avx512vnni")))
#include "kernels/rows/fixed_loops_inl.h"
#undef STOKER_LAMBDA
}  // namespace vnni
}  // namespace HWY_NAMESPACE
}  // namespace stoker::rows
HWY_POP_ATTRIBUTES
HWY_BEFORE_NAMESPACE();
namespace stoker::rows {
namespace HWY_NAMESPACE {
#else
namespace vnni = plain;
#endif

void SumRows(const uint8_t* first, int64_t stride, const int16_t* weights, int taps, int64_t n,
             int16_t* out, bool with_vnni) {
  if (with_vnni) vnni::SumRows(first, stride, weights, taps, n, out);
  else plain::SumRows(first, stride, weights, taps, n, out);
}

void SumLines(const Lines& l, const LineTaps& t, bool with_vnni) {
  if (with_vnni) vnni::SumLines(l, t);
  else plain::SumLines(l, t);
}

// Splits three vectors of pixels with three channels. A channel has every third place in each
// vector (or block, where kOrder is for blocks), from another place on in each. So blending
// collects the values of a channel, and a permutation puts them in order.
#if HWY_TARGET <= HWY_AVX3
HWY_INLINE void SplitThree(const int16_t* pixels, int16_t* planes, int64_t pitch) {
  const __m512i a = _mm512_loadu_si512(pixels), b = _mm512_loadu_si512(pixels + 32),
                c = _mm512_loadu_si512(pixels + 64);
  HWY_ALIGN static constexpr uint16_t kOrder[32] = {0, 3, 6, 9,  12, 15, 18, 21, 24, 27, 30,
                                                    1, 4, 7, 10, 13, 16, 19, 22, 25, 28, 31,
                                                    2, 5, 8, 11, 14, 17, 20, 23, 26, 29};
  constexpr uint32_t kThird = 0x49249249;  // places 0, 3, 6, ...
  __m512i order = _mm512_load_si512(kOrder);
  const auto put = [&](int k, uint32_t from_b, uint32_t from_c) HWY_ATTR {
    const __m512i ab = _mm512_mask_blend_epi16(from_b, a, b);
    const __m512i abc = _mm512_mask_blend_epi16(from_c, ab, c);
    _mm512_storeu_si512(planes + k * pitch, _mm512_permutexvar_epi16(order, abc));
    order = _mm512_and_si512(_mm512_add_epi16(order, _mm512_set1_epi16(1)), _mm512_set1_epi16(31));
  };
  put(0, kThird << 1, kThird << 2);
  put(1, kThird << 2, kThird);
  put(2, kThird, kThird << 1);
}
#elif HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4
#if HWY_TARGET == HWY_AVX2
HWY_INLINE __m256i LoadTwo(const int16_t* p) {
  return _mm256_inserti128_si256(
      _mm256_castsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))),
      _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 24)), 1);
}
#define STOKER_BLEND _mm256_blend_epi16
#else
HWY_INLINE __m128i LoadTwo(const int16_t* p) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}
#define STOKER_BLEND _mm_blend_epi16
#endif
HWY_INLINE void SplitThree(const int16_t* pixels, int16_t* planes, int64_t pitch) {
  const auto a = LoadTwo(pixels), b = LoadTwo(pixels + 8), c = LoadTwo(pixels + 16);
  HWY_ALIGN static constexpr uint8_t kOrder[3][16] = {
      {0, 1, 6, 7, 12, 13, 2, 3, 8, 9, 14, 15, 4, 5, 10, 11},
      {2, 3, 8, 9, 14, 15, 4, 5, 10, 11, 0, 1, 6, 7, 12, 13},
      {4, 5, 10, 11, 0, 1, 6, 7, 12, 13, 2, 3, 8, 9, 14, 15}};
  const auto put = [&](int k, V16 v) HWY_ATTR {
    const V16 order = hn::BitCast(D16(), hn::LoadDup128(D8(), kOrder[k]));
    hn::StoreU(hn::TableLookupBytes(v, order), D16(), planes + k * pitch);
  };
  put(0, V16{STOKER_BLEND(STOKER_BLEND(a, b, 0x92), c, 0x24)});
  put(1, V16{STOKER_BLEND(STOKER_BLEND(a, b, 0x24), c, 0x49)});
  put(2, V16{STOKER_BLEND(STOKER_BLEND(a, b, 0x49), c, 0x92)});
}
#undef STOKER_BLEND
#else
HWY_INLINE void SplitThree(const int16_t* pixels, int16_t* planes, int64_t pitch) {
  V16 a, b, c;
  hn::LoadInterleaved3(D16(), pixels, a, b, c);
  hn::StoreU(a, D16(), planes);
  hn::StoreU(b, D16(), planes + pitch);
  hn::StoreU(c, D16(), planes + 2 * pitch);
}
#endif

void SplitWords(const int16_t* pixels, int channels, int16_t* planes, int64_t pitch, int64_t n) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D16()));
  for (int64_t i = 0; i < n; i += lanes, pixels += channels * lanes, planes += lanes) {
    if (channels == 3) {
      SplitThree(pixels, planes, pitch);
      continue;
    }
    V16 a, b, c, e;
    if (channels == 2) {
      hn::LoadInterleaved2(D16(), pixels, a, b);
    } else {
      hn::LoadInterleaved4(D16(), pixels, a, b, c, e);
      hn::StoreU(c, D16(), planes + 2 * pitch);
      hn::StoreU(e, D16(), planes + 3 * pitch);
    }
    hn::StoreU(a, D16(), planes);
    hn::StoreU(b, D16(), planes + pitch);
  }
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace stoker::rows
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker::rows {
namespace {

HWY_EXPORT(SumRows);
HWY_EXPORT(SumLines);
HWY_EXPORT(SplitWords);
HWY_EXPORT(MakeLineTaps);

#if HWY_ARCH_X86
std::atomic<bool> use_vnni = __builtin_cpu_supports("avx512vnni") != 0;
#else
std::atomic<bool> use_vnni = false;
#endif
bool with_vnni() { return use_vnni.load(std::memory_order_relaxed); }

}  // namespace

bool set_vnni_for_test(bool use) { return use_vnni.exchange(use); }

void sum_rows(const uint8_t* first, int64_t stride, const int16_t* weights, int taps, int64_t n,
              int16_t* out) {
  HWY_DYNAMIC_DISPATCH(SumRows)(first, stride, weights, taps, n, out, with_vnni());
}
LineTaps line_taps(const TapTable<int16_t>& table, Arena& arena) {
  return HWY_DYNAMIC_DISPATCH(MakeLineTaps)(table, arena);
}
bool sums_into(const ValueStep& s) {
  return !s.list && s.from == DType::kUint8 && (s.to == DType::kFloat32 || s.to == DType::kFloat16);
}
void sum_lines(const Lines& lines, const LineTaps& taps) {
  HWY_DYNAMIC_DISPATCH(SumLines)(lines, taps, with_vnni());
}
void split_words(const int16_t* pixels, int channels, int16_t* planes, int64_t pitch, int64_t n) {
  HWY_DYNAMIC_DISPATCH(SplitWords)(pixels, channels, planes, pitch, n);
}

}  // namespace stoker::rows
#endif
