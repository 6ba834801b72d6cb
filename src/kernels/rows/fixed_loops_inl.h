// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The loops of fixed-point resampling, in terms of AddProducts. line.cc includes them once for each
// way in which the target can add products, each time into another namespace, hence no include
// guard. STOKER_LAMBDA says which instructions a lambda may use: Clang gives it none of those
// around it.

// The sums of the products of two rows, for each column of a vector of bytes.
struct Columns {
  // For each block of 16 columns, `sum` holds the sums of columns 0, 2, 4, 6; then 1, 3, 5, 7; then
  // the same of the other eight. AddProducts says what `other` is for.
  static constexpr int32_t kHalf = 1 << 7;
  V32 sum[4], other[4];

  HWY_INLINE Columns() {
    for (int i = 0; i < 4; ++i) {
      sum[i] = Start(kHalf);
      other[i] = hn::Zero(D32());
    }
  }
  HWY_INLINE void Add(const uint8_t* upper, const uint8_t* lower, V16 weights) {
    const V16 a = hn::BitCast(D16(), hn::LoadU(D8(), upper));
    const V16 b = hn::BitCast(D16(), hn::LoadU(D8(), lower));
    AddHalf(hn::InterleaveLower(D16(), a, b), weights, 0);
    AddHalf(hn::InterleaveUpper(D16(), a, b), weights, 2);
  }
  // `bytes` alternates between two bytes of the upper row and two of the lower row.
  HWY_INLINE void AddHalf(V16 bytes, V16 weights, int i) {
    const hn::RebindToUnsigned<D16> du;
    const V16 odd = hn::BitCast(D16(), hn::ShiftRight<8>(hn::BitCast(du, bytes)));
    AddProducts(hn::And(bytes, hn::Set(D16(), 0xff)), weights, sum[i], other[i]);
    AddProducts(odd, weights, sum[i + 1], other[i + 1]);
  }
  HWY_INLINE V16 Half(int i) const {
    const V32 even = hn::ShiftRight<8>(End(sum[i], other[i], kHalf));
    const V32 odd = hn::ShiftRight<8>(End(sum[i + 1], other[i + 1], kHalf));
    return hn::ReorderDemote2To(D16(), even, odd);  // the values of `even` come first in each block
  }
  HWY_INLINE void Store(int16_t* out) const { StoreColumns(Half(0), Half(2), out); }
};

HWY_INLINE V16 PairOfWeights(const int16_t* weights) {
  int32_t pair;
  std::memcpy(&pair, weights, sizeof pair);
  return hn::BitCast(D16(), hn::Set(D32(), pair));
}

// Sums as many columns as a vector has bytes, of kPairs pairs of rows, or any number if that is 0.
template <int kPairs>
HWY_INLINE void SumColumns(const uint8_t* first, int64_t stride, const int16_t* weights, int taps,
                           int16_t* out) {
  const int pairs = kPairs ? kPairs : (taps + 1) / 2;
  Columns columns;
  for (int p = 0; p < pairs; ++p) {
    const uint8_t* upper = first + 2 * p * stride;
    const uint8_t* lower = 2 * p + 1 < taps ? upper + stride : upper;  // else its weight is 0
    columns.Add(upper, lower, PairOfWeights(weights + 2 * p));
  }
  columns.Store(out);
}

template <int kPairs>
void SumRowsInPairs(const uint8_t* first, int64_t stride, const int16_t* weights, int taps,
                    int64_t n, int16_t* out) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D8()));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) SumColumns<kPairs>(first + i, stride, weights, taps, out + i);
  i = n - lanes;  // computes some columns twice
  SumColumns<kPairs>(first + i, stride, weights, taps, out + i);
}

// Of fewer columns than a vector has bytes.
void SumFewColumns(const uint8_t* first, int64_t stride, const int16_t* weights, int taps, size_t n,
                   int16_t* out) {
  HWY_ALIGN uint8_t rows[2][HWY_MAX_BYTES] = {};
  HWY_ALIGN int16_t sums[HWY_MAX_BYTES];
  Columns columns;
  for (int t = 0; t < taps; t += 2) {
    std::memcpy(rows[0], first + t * stride, n);
    if (t + 1 < taps) std::memcpy(rows[1], first + (t + 1) * stride, n);  // else its weight is 0
    columns.Add(rows[0], rows[1], PairOfWeights(weights + t));
  }
  columns.Store(sums);
  std::memcpy(out, sums, n * sizeof sums[0]);
}

void SumRows(const uint8_t* first, int64_t stride, const int16_t* weights, int taps, int64_t n,
             int16_t* out) {
  if (n < static_cast<int64_t>(hn::Lanes(D8())))
    return SumFewColumns(first, stride, weights, taps, static_cast<size_t>(n), out);
  switch ((taps + 1) / 2) {
    case 1: return SumRowsInPairs<1>(first, stride, weights, taps, n, out);
    case 2: return SumRowsInPairs<2>(first, stride, weights, taps, n, out);
    case 3: return SumRowsInPairs<3>(first, stride, weights, taps, n, out);
    default: return SumRowsInPairs<0>(first, stride, weights, taps, n, out);
  }
}

// Sums the products of all pairs of taps for one vector of results. kTight: one load serves all.
template <class Values, bool kTight, int kPairs>
HWY_INLINE V32 SumPicked(const int16_t* line, const int32_t* first, V32 index,
                         const int16_t* weights, int pairs) {
  const int n = kPairs ? kPairs : pairs;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(D16()));
  constexpr int32_t kHalf = 1 << 19;
  V32 sum = Start(kHalf), other = hn::Zero(D32());
  Values values(line, first);
  for (int p = 0; p < n; ++p) {
    if (!kTight && p) values = Values(line + 2 * p, first);
    AddProducts(values.Pick(index), hn::Load(D16(), weights + p * lanes), sum, other);
    if (kTight) index = hn::Add(index, hn::Set(D32(), kIndexStep));
  }
  return hn::ShiftRight<20>(End(sum, other, kHalf));
}

template <class Values, bool kTight, int kPairs, class Out>
HWY_INLINE void SumByPicking(const int16_t* line, const LineTaps& taps, const Out& put,
                             typename Out::Value* to) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D32()));
  const LineTaps t = taps;  // a copy stays in registers, whatever is written
  const Out out = put;
  const int64_t bases = lanes / kPerBase, step = 2 * lanes * (kPairs ? kPairs : t.pairs);
  const int32_t *first = t.first, *index = t.index;
  const int16_t* weights = t.weights;
  const auto next = [&]() STOKER_LAMBDA {
    const V32 v =
        SumPicked<Values, kTight, kPairs>(line, first, hn::Load(D32(), index), weights, t.pairs);
    first += bases;
    index += lanes;
    weights += step;
    return v;
  };
  int64_t o = 0;
  for (; o + lanes <= t.count; o += lanes) out.Put(next(), to + o);
  if (o < t.count) PutSome(out, next(), to + o, t.count - o);
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
        AddProducts(LoadEights(line + 2 * p, t.first + o + j), hn::Load(D16(), weights), sums[j],
                    others[j]);
    for (int j = 0; j < 4; ++j) sums[j] = hn::Add(sums[j], others[j]);
    PutSome(out, hn::ShiftRight<20>(hn::Add(hn::Set(D32(), 1 << 19), SumsOfBlocks(sums))), to + o,
            t.count - o);
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

void SumLines(const Lines& l, const LineTaps& t) {
  auto* out = static_cast<std::byte*>(l.out);
  for (int64_t k = 0; k < l.count; ++k, out += l.out_pitch) {
    const int16_t* line = l.values + k * l.pitch;
    if (!l.steps) SumInto(line, t, Bytes(), out);
    else if (l.steps[k].to == DType::kFloat16)
      SumInto(line, t, Stepped<DType::kFloat16, uint16_t>(l.steps[k], l.within), out);
    else SumInto(line, t, Stepped<DType::kFloat32, float>(l.steps[k], l.within), out);
  }
}
