// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Weighted sums along a line of values, many results at a time: see Note [Lines].
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "kernels/fixed_point.h"
#include "kernels/line.h"

#include "kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows_line.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/line_taps_inl.h"
#include "kernels/narrow_inl.h"

HWY_BEFORE_NAMESPACE();
namespace stoker::rows {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

void SumLine(const int16_t* line, const LineTaps& t, const ValueStep* step, void* out) {
  for (int64_t o = 0; o < t.count; ++o) {
    int32_t sum = 0;
    for (int i = 0; i < 2 * t.pairs; ++i)
      sum += t.weights[2 * t.pairs * o + i] * line[t.first[o] + i];
    const uint8_t v = fixed_result(sum);
    if (step)
      pointwise_row(&v, step->from, static_cast<std::byte*>(out) + o * size_of(step->to), step->to,
                    1, step->sub, step->mul, step->add);
    else static_cast<uint8_t*>(out)[o] = v;
  }
}

#else

using D16 = hn::ScalableTag<int16_t>;
using D32 = hn::RepartitionToWide<D16>;
using D8 = hn::Repartition<uint8_t, D16>;
using V16 = hn::Vec<D16>;
using V32 = hn::Vec<D32>;

// Sums of two products next to each other. Where the CPU adds others together, `other` keeps them
// until the end.
struct Sum {
  V32 sum, other;

  HWY_INLINE Sum() : sum(hn::Set(D32(), 1 << 19)), other(hn::Zero(D32())) {}

  HWY_INLINE void Add(V16 values, V16 weights) {
    sum = hn::ReorderWidenMulAccumulate(D32(), values, weights, sum, other);
  }
  // Between 0 and 255.
  HWY_INLINE V32 Result() const {
    const V32 v = hn::ShiftRight<20>(hn::RearrangeToOddPlusEven(sum, other));
    return hn::Min(hn::Max(v, hn::Zero(D32())), hn::Set(D32(), 255));
  }
};

// What becomes of a vector of results: bytes, or one step and then floats or halves. All types have
// the float vector's lanes.
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
  F sub, mul, add;
  HWY_INLINE explicit Stepped(const ValueStep& s)
      : sub(hn::Set(df, s.sub)), mul(hn::Set(df, s.mul)), add(hn::Set(df, s.add)) {}
  HWY_INLINE void Put(V32 v, Value* to) const {
    Store(kType, hn::Add(hn::Mul(hn::Sub(hn::ConvertTo(df, v), sub), mul), add), to);
  }
};

template <class Out>
HWY_INLINE void PutSome(const Out& out, V32 v, typename Out::Value* to, int64_t n) {
  if (n >= static_cast<int64_t>(hn::Lanes(D32()))) return out.Put(v, to);
  HWY_ALIGN typename Out::Value all[HWY_MAX_BYTES / 4];
  out.Put(v, all);
  std::memcpy(to, all, static_cast<size_t>(n) * sizeof all[0]);
}

HWY_INLINE V16 LoadWeights(const int16_t* w) { return hn::Load(D16(), w); }

// The picked pairs of values of a vector of results.
#if HWY_TARGET == HWY_AVX3
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

// The pairs of taps of one vector of results. kTight: one load serves all of them.
template <class Values, bool kTight, int kPairs>
HWY_INLINE V32 SumPicked(const int16_t* line, const int32_t* first, V32 index,
                         const int16_t* weights, int pairs) {
  const int n = kPairs ? kPairs : pairs;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(D16()));
  Sum sum;
  Values values(line, first);
  for (int p = 0; p < n; ++p) {
    if (!kTight && p) values = Values(line + 2 * p, first);
    sum.Add(values.Pick(index), LoadWeights(weights + p * lanes));
    if (kTight) index = hn::Add(index, hn::Set(D32(), kIndexStep));
  }
  return sum.Result();
}

template <class Values, bool kTight, int kPairs, class Out>
HWY_INLINE void SumByPicking(const int16_t* line, const LineTaps& t, const Out& out,
                             typename Out::Value* to) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D32()));
  const int64_t bases = lanes / kPerBase, step = 2 * lanes * (kPairs ? kPairs : t.pairs);
  const int32_t* first = t.first;
  const int16_t* weights = t.weights;
  for (int64_t o = 0; o < t.count; o += lanes, first += bases, weights += step)
    PutSome(out,
            SumPicked<Values, kTight, kPairs>(line, first, hn::Load(D32(), t.index + o), weights,
                                              t.pairs),
            to + o, t.count - o);
}

// Eight neighbours of each of four results (in each block): block b of vector j belongs to result
// 4 b + j.
HWY_INLINE V16 LoadEights(const int16_t* line, const int32_t* first) {
  const hn::Full128<int16_t> block;
  const auto a = hn::LoadU(block, line + first[0]);
#if HWY_TARGET == HWY_AVX3
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
// Lane j of each block: the sum of that block of v[j].
HWY_INLINE V32 SumsOfBlocks(const V32* v) {
  const hn::RepartitionToWide<D32> d64;
  const auto a = hn::BitCast(d64, AddHalves(v[0], v[1])),
             b = hn::BitCast(d64, AddHalves(v[2], v[3]));
  return hn::Add(hn::BitCast(D32(), hn::InterleaveLower(d64, a, b)),
                 hn::BitCast(D32(), hn::InterleaveUpper(d64, a, b)));
}

template <class Out>
HWY_INLINE void SumByEights(const int16_t* line, const LineTaps& t, const Out& out,
                            typename Out::Value* to) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D32()));
  const int16_t* weights = t.weights;
  for (int64_t o = 0; o < t.count; o += lanes) {
    V32 sums[4], others[4];
    for (int j = 0; j < 4; ++j) sums[j] = others[j] = hn::Zero(D32());
    for (int p = 0; p < t.pairs; p += 4)
      for (int j = 0; j < 4; ++j, weights += 2 * lanes)
        sums[j] = hn::ReorderWidenMulAccumulate(D32(), LoadEights(line + 2 * p, t.first + o + j),
                                                LoadWeights(weights), sums[j], others[j]);
    for (int j = 0; j < 4; ++j) sums[j] = hn::Add(sums[j], others[j]);
    Sum sum;
    sum.sum = hn::Add(sum.sum, SumsOfBlocks(sums));
    const V32 v = hn::ShiftRight<20>(sum.sum);
    PutSome(out, hn::Min(hn::Max(v, hn::Zero(D32())), hn::Set(D32(), 255)), to + o, t.count - o);
  }
}

template <class Out>
void SumInto(const int16_t* line, const LineTaps& t, const Out& out, void* place) {
  auto* to = static_cast<typename Out::Value*>(place);
  switch (t.reach) {
    case LineTaps::kTight:
      switch (t.pairs) {
        case 1: return SumByPicking<Near, true, 1>(line, t, out, to);
        case 2: return SumByPicking<Near, true, 2>(line, t, out, to);
        case 3: return SumByPicking<Near, true, 3>(line, t, out, to);
        default: return SumByPicking<Near, true, 0>(line, t, out, to);
      }
    case LineTaps::kNear: return SumByPicking<Near, false, 0>(line, t, out, to);
    case LineTaps::kFar: return SumByPicking<Far, false, 0>(line, t, out, to);
    default: return SumByEights(line, t, out, to);
  }
}

void SumLine(const int16_t* line, const LineTaps& t, const ValueStep* step, void* out) {
  if (!step) return SumInto(line, t, Bytes(), out);
  if (step->to == DType::kFloat16)
    return SumInto(line, t, Stepped<DType::kFloat16, uint16_t>(*step), out);
  SumInto(line, t, Stepped<DType::kFloat32, float>(*step), out);
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace stoker::rows
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker::rows {

HWY_EXPORT(SumLine);
HWY_EXPORT(MakeLineTaps);

LineTaps line_taps(const TapTable<int16_t>& table, Arena& arena) {
  return HWY_DYNAMIC_DISPATCH(MakeLineTaps)(table, arena);
}
void sum_line(const int16_t* line, const LineTaps& taps, uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(SumLine)(line, taps, nullptr, out);
}
bool sums_into(const ValueStep& s) {
  return s.from == DType::kUint8 && (s.to == DType::kFloat32 || s.to == DType::kFloat16);
}
void sum_line(const int16_t* line, const LineTaps& taps, const ValueStep& step, void* out) {
  HWY_DYNAMIC_DISPATCH(SumLine)(line, taps, &step, out);
}

}  // namespace stoker::rows
#endif
