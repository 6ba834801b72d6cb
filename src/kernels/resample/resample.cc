// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/resample/resample.h"

#include <algorithm>

#include "kernels/convert.h"
#include "kernels/resample/fixed_point.h"
#include "kernels/resample/taps.h"

namespace stoker {
namespace {

// How sums are computed and rounded: in integers (Note [Fixed point]) or floats (Note [Rounding]).
struct Fixed {
  using Value = int16_t;
  using Sum = int32_t;
  static Value between(Sum s) { return fixed_between(s); }
};
template <class T>
struct Floating {
  using Value = T;
  using Sum = T;
  static Value between(Sum s) { return s; }
};

// A dense array of just the positions in `window`.
template <class V>
struct DenseWindow {
  V* data;
  Window window;
};

template <class V>
void load_row(const std::byte* from, DType type, int64_t stride, V* to, int64_t n) {
  if constexpr (std::is_same_v<V, int16_t>) {
    for (int64_t i = 0; i < n; ++i)
      to[i] = static_cast<int16_t>(std::to_integer<int>(from[i * stride]) << kFractionBits);
  } else {
    convert_row(from, type, stride, to, sizeof(V) == 4 ? DType::kFloat32 : DType::kFloat64,
                sizeof(V), n);
  }
}

// Moves `at` to the next row of the window. False behind the last one.
bool next_row(Shape& at, const Window& w) {
  for (int a = at.rank - 2; a >= 0; --a) {
    if (++at[a] < w.end[a]) return true;
    at[a] = w.begin[a];
  }
  return false;
}

template <class V>
DenseWindow<V> load(const Strided& in, const Window& w, Arena& arena) {
  DenseWindow<V> p{arena.array<V>(w.shape().volume()), w};
  const int last = w.begin.rank - 1;
  const int64_t n = w.end[last] - w.begin[last];
  Shape at = w.begin;
  V* row = p.data;
  do {
    load_row(in.at(at), in.dtype, in.stride[last], row, n);
    row += n;
  } while (next_row(at, w));
  return p;
}

// Writes one row of `inner` values for each output of `taps`: the weighted sum of input rows.
template <class Kind, class Finish, class Out>
void sum_axis(const typename Kind::Value* in, int64_t in_begin,
              const TapTable<typename Kind::Value>& taps, int64_t inner, typename Kind::Sum* sum,
              Finish&& finish, Out* out) {
  for (int64_t o = 0; o < taps.count; ++o, out += inner) {
    const auto* row = in + (taps.first[o] - in_begin) * inner;
    const auto* weight = taps.row(o);
    for (int64_t i = 0; i < inner; ++i) sum[i] = weight[0] * row[i];
    for (int t = 1; t < taps.taps[o]; ++t)
      for (int64_t i = 0; i < inner; ++i) sum[i] = sum[i] + weight[t] * row[t * inner + i];
    for (int64_t i = 0; i < inner; ++i) out[i] = finish(sum[i]);
  }
}

template <class Kind, class Out, class Finish>
DenseWindow<Out> along(const DenseWindow<typename Kind::Value>& in,
                       const TapTable<typename Kind::Value>& taps, int axis, const Window& wanted,
                       Finish&& finish, Arena& arena) {
  DenseWindow<Out> out{nullptr, in.window};
  out.window.begin[axis] = wanted.begin[axis];
  out.window.end[axis] = wanted.end[axis];
  const Shape shape = in.window.shape();
  out.data = arena.array<Out>(out.window.shape().volume());
  int64_t outer = 1, inner = 1;
  for (int a = 0; a < axis; ++a) outer *= shape[a];
  for (int a = axis + 1; a < shape.rank; ++a) inner *= shape[a];
  auto* sum = arena.array<typename Kind::Sum>(inner);
  for (int64_t o = 0; o < outer; ++o)
    sum_axis<Kind>(in.data + o * shape[axis] * inner, in.window.begin[axis], taps, inner, sum,
                   finish, out.data + o * taps.count * inner);
  return out;
}

template <class Kind>
View run(const Resample& r, const Strided& in, const Shape& full, DType result,
         const Window& wanted, Arena& arena) {
  using V = typename Kind::Value;
  TapTable<V> taps[3];
  Window need = wanted;
  Shape made = full;
  for (int i = 0; i < r.count; ++i) {
    const int a = r.axis[i].axis;
    taps[i] = tap_table<V>(r.axis[i], full[a], wanted.begin[a], 1, wanted.end[a] - wanted.begin[a],
                           arena);
    need.begin[a] = taps[i].begin;
    need.end[a] = taps[i].end;
    made[a] = r.axis[i].out;
  }
  DenseWindow<V> part = load<V>(in, need, arena);
  const int last = r.count - 1;
  for (int i = 0; i < last; ++i)
    part = along<Kind, V>(part, taps[i], r.axis[i].axis, wanted, Kind::between, arena);
  if constexpr (std::is_same_v<Kind, Fixed>) {
    const auto out =
        along<Kind, uint8_t>(part, taps[last], r.axis[last].axis, wanted, fixed_result, arena);
    return View::window(out.data, result, wanted, made);
  } else {
    part = along<Kind, V>(part, taps[last], r.axis[last].axis, wanted, Kind::between, arena);
    const int64_t n = wanted.shape().volume();
    void* out = arena.allocate(static_cast<size_t>(n) * size_of(result));
    convert_row(part.data, sizeof(V) == 4 ? DType::kFloat32 : DType::kFloat64, out, result, n);
    return View::window(out, result, wanted, made);
  }
}

}  // namespace

bool is_selection(const Resample& r) {
  return std::all_of(r.axis, r.axis + r.count,
                     [](auto& a) { return a.filter == Filter::kNearest; });
}

View resample(const Resample& r, const Strided& in, const Shape& full, DType result,
              const Window& wanted, Arena& arena) {
  if (in.dtype == DType::kUint8 && result == DType::kUint8)
    return run<Fixed>(r, in, full, result, wanted, arena);
  if (is_wide(in.dtype) || is_wide(result))
    return run<Floating<double>>(r, in, full, result, wanted, arena);
  return run<Floating<float>>(r, in, full, result, wanted, arena);
}

}  // namespace stoker
