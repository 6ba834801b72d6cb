// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/fused/row_warper.h"

#include <algorithm>
#include <cstring>

#include "kernels/convert.h"
#include "kernels/levels.h"
#include "kernels/rows/gather.h"
#include "kernels/rows/rows.h"

namespace stoker {
namespace {

int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b > 0); }  // Requires: b > 0.

// One of two axes along which a row is picked.
struct PickAxis {
  int64_t place, step, stride, least, most;

  int64_t next() {
    const int64_t at = whole_part(std::clamp(place, least, most)) * stride;
    place += step;
    return at;
  }
};
template <size_t kUnit>
void pick(const std::byte* from, PickAxis y, PickAxis x, std::byte* to, int64_t n) {
  for (int64_t k = 0; k < n; ++k, to += kUnit) std::memcpy(to, from + y.next() + x.next(), kUnit);
}
// Null for units of other sizes.
auto picker(int64_t unit) {
  switch (unit) {
    case 1: return pick<1>;
    case 2: return pick<2>;
    case 3: return pick<3>;
    case 4: return pick<4>;
    case 6: return pick<6>;
    case 12: return pick<12>;
    default: return static_cast<decltype(&pick<1>)>(nullptr);
  }
}

// Whether Mean is used for values of type T.
template <class Mean, class T>
inline constexpr bool kSums =
    std::is_same_v<Mean, FixedMean>                 ? std::is_same_v<T, uint8_t>
    : sizeof(typename Mean::Value) == sizeof(float) ? sizeof(T) <= 2 || std::is_same_v<T, float>
                                                    : true;

template <class Mean, class T>
typename Mean::Value load(const std::byte* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return Mean::of(v);
}

// WarpSource::between() along two axes, for positions whose values all lie inside.
template <class Mean, class T>
void mean_inside(const std::byte* from, const int64_t* offset, const int64_t* down,
                 const int64_t* right, const typename Mean::Value* fy,
                 const typename Mean::Value* fx, typename Mean::Value* out, int64_t n) {
  at_cpu_level([=] {
    const auto mean = [](auto a, auto b, auto f) { return f == 0 ? a : Mean::mean(a, b, f); };
    for (int64_t k = 0; k < n; ++k) {
      const std::byte *top = from + offset[k], *bottom = top + down[k];
      const auto a = mean(load<Mean, T>(top), load<Mean, T>(top + right[k]), fx[k]);
      const auto b = mean(load<Mean, T>(bottom), load<Mean, T>(bottom + right[k]), fx[k]);
      out[k] = mean(a, b, fy[k]);
    }
  });
}

}  // namespace

void RowWarper::Line::go(const Steps& s, int64_t positions) {
  for (int i = 0; i < kMost; ++i) place[i] += s.place[i] * positions;
  from += s.bytes * positions;
}

RowWarper::RowWarper(const Pass& pass, const Strided& in, const Window& read, const View& out,
                     Target& target, Arena& arena)
    : source_(pass.warp_source(in)),
      type_(in.dtype),
      result_(pass.resampled.dtype),
      linear_(pass.warp->linear),
      width_(target.x.data()),
      channels_(target.c.data()) {
  Shape first = out.origin;
  for (int a = 0; a < target.rank(); ++a) first[a] += target.axis(a).lo;
  const WarpPlaces places = pass.warp_places(first);
  std::copy_n(places.start, kMost, first_.place);
  first_.from = in.data + in.offset;
  for (int a = 0; a < target.rank(); ++a) {
    const AxisInput& map = pass.map[a];
    Steps& s = a == target.x.axis ? x_ : a == target.c.axis ? c_ : steps_[a];
    std::copy_n(places.step[a], kMost, s.place);
    if (pass.warps(map.axis)) continue;
    s.bytes = map.step * in.stride[map.axis];
    first_.from += (map.start + map.step * first[a]) * in.stride[map.axis];
  }
  convert_row(&pass.warp->fill, DType::kFloat32, fill_, result_, 1);
  shares_places_ = std::all_of(c_.place, c_.place + kMost, [](int64_t p) { return p == 0; });
  find_pixels(pass, read, target);
  if (!whole_pixels_) target.keep_planes(arena);
  if (are_pixels_) return;
  const auto n = static_cast<size_t>(width_);
  offsets_ = arena.array<int64_t>(n);
  values_ = arena.array<double>(n);
  if (!linear_ || pass.warp->count != 2) return;
  for (int i = 0; i < 2; ++i) {
    next_[i] = arena.array<int64_t>(n);
    fractions_[i] = arena.array<double>(n);
  }
}

// Finds whether rows are made of whole pixels, and by the fast loops.
void RowWarper::find_pixels(const Pass& pass, const Window& read, const Target& target) {
  if (!shares_places_) return;
  const bool is_dense = channels_ == 1 || c_.bytes == size_of(type_);
  whole_pixels_ = is_dense && type_ == result_ && target.pixels(target.first());
  if (!linear_) return;
  const Warp& w = *pass.warp;
  const int64_t used = (channels_ - 1) * std::abs(c_.bytes) + 1;
  const int64_t pixel = w.count == 2 ? source_.stride[1] : 0;
  const bool is_pixel = pixel >= used;  // else the channels are planes
  pixels_ = {.from = nullptr, .row = source_.stride[0], .pixel = pixel};
  pixels_.used = is_pixel ? used : 1;
  pixels_.clamped = source_.clamped;
  pixels_.fill = std::to_integer<uint8_t>(fill_[0]);
  for (int i = 0; i < 2; ++i) {
    pixels_.extent[i] = source_.extent[i];
    pixels_.lo[i] = read.begin[w.axis[i]];
    pixels_.hi[i] = read.end[w.axis[i]];
  }
  are_pixels_ = is_fixed_warp(type_, result_) && pixel >= 1 && pixel <= 4 && x_.bytes == 0 &&
                pixels_.has_room();
  whole_pixels_ = whole_pixels_ && are_pixels_ && is_pixel;
  channel_ = c_.bytes < 0 ? used - 1 : 0;
  channel_step_ = c_.bytes;
}

// The positions of `r` whose places along an axis of the source lie in [lo, hi) of its positions.
RowWarper::Range RowWarper::narrowed(const Line& line, int axis, Range r, int64_t lo,
                                     int64_t hi) const {
  int64_t place = line.place[axis], step = x_.place[axis];
  lo *= int64_t{1} << kPlaceBits, hi *= int64_t{1} << kPlaceBits;
  if (step == 0) return place >= lo && place < hi ? r : Range{r.begin, r.begin};
  if (step < 0) {
    std::swap(lo, hi);
    place = -place, step = -step, lo = 1 - lo, hi = 1 - hi;
  }
  const int64_t begin = std::clamp(ceil_div(lo - place, step), r.begin, r.end);
  return {begin, std::clamp(ceil_div(hi - place, step), begin, r.end)};
}

// The positions that show any of the source's values.
RowWarper::Range RowWarper::touched(const Line& line) const {
  Range r{0, width_};
  for (int i = 0; i < kMost && !source_.clamped; ++i)
    r = narrowed(line, i, r, linear_ ? -1 : 0, source_.extent[i]);
  return r;
}

void RowWarper::run(Target& out, const Shape& row) const {
  Line line = first_;
  for (int a = 0; a < out.rank(); ++a)
    if (a != out.x.axis && a != out.c.axis) line.go(steps_[a], row[a] - out.axis(a).lo);
  if (whole_pixels_) {
    std::byte* to = out.pixels(row);
    return linear_ ? warp_pixels(line, to, 0) : make_line(line, false, to);
  }
  auto* to = static_cast<std::byte*>(out.planes(row));
  const int64_t pitch = out.pitch();
  if (are_pixels_ && (channels_ == 1 || pixels_.used > 1)) {
    warp_pixels(line, to, pitch);
  } else {
    for (int64_t k = 0; k < channels_; ++k, line.go(c_, 1)) {
      if (are_pixels_) warp_pixels(line, to + k * pitch, pitch);
      else make_line(line, shares_places_ && k > 0, to + k * pitch);
    }
  }
  out.finish(row);
}

void RowWarper::warp_pixels(const Line& line, std::byte* to, int64_t pitch) const {
  rows::WarpedPixels p = pixels_;
  p.from = line.from - (p.used > 1 ? channel_ : 0);
  const Range all = touched(line);
  Range inside = narrowed(line, 0, all, p.lo[0], p.hi[0] - 1);
  inside = narrowed(line, 1, inside, p.lo[1], p.hi[1] - p.reach());
  fill_pixels({0, all.begin}, to, pitch);
  fill_pixels({all.end, width_}, to, pitch);
  const Range parts[] = {
      {all.begin, inside.begin}, {inside.begin, inside.end}, {inside.end, all.end}};
  for (const Range& part : parts)
    for (int64_t at = part.begin; at < part.end; at += rows::kWarpChunk) {
      Line here = line;
      here.go(x_, at);
      uint32_t quads[rows::kWarpChunk];
      const int64_t n = std::min(rows::kWarpChunk, part.end - at);
      rows::warp(p, &part == &parts[1], here.place, x_.place, n, quads);
      put_pixels(quads, n, at, to, pitch);
    }
}

void RowWarper::put_pixels(const uint32_t* quads, int64_t n, int64_t at, std::byte* to,
                           int64_t pitch) const {
  std::byte planes[4][rows::kWarpChunk];
  rows::split(quads, 1, 4, planes, rows::kWarpChunk, n);
  if (whole_pixels_ && channels_ > 1)
    return rows::join(planes, rows::kWarpChunk, 1, static_cast<int>(channels_), to + at * channels_,
                      n);
  const int64_t made = pixels_.used > 1 ? channels_ : 1;
  for (int64_t k = 0; k < made; ++k)
    std::memcpy(to + k * pitch + at, planes[made > 1 ? channel_ + k * channel_step_ : 0],
                static_cast<size_t>(n));
}

void RowWarper::fill_pixels(Range r, std::byte* to, int64_t pitch) const {
  const auto n = static_cast<size_t>(r.end - r.begin);
  if (whole_pixels_) {
    const auto channels = static_cast<size_t>(channels_);
    std::memset(to + r.begin * channels_, pixels_.fill, n * channels);
    return;
  }
  const int64_t made = pixels_.used > 1 ? channels_ : 1;
  for (int64_t k = 0; k < made; ++k) std::memset(to + k * pitch + r.begin, pixels_.fill, n);
}

RowWarper::Range RowWarper::unbounded(const Line& line, Range r) const {
  if (!next_[0]) return {r.begin, r.begin};
  for (int i = 0; i < 2 && !source_.clamped; ++i)
    r = narrowed(line, i, r, 0, source_.extent[i] - 1);
  return r;
}

void RowWarper::find_offsets(const Line& line, Range r) const {
  const int64_t n = r.end - r.begin;
  int64_t* to = offsets_;
  const int64_t first = r.begin * x_.bytes, bytes = x_.bytes;
  at_cpu_level([=] {
    for (int64_t k = 0; k < n; ++k) to[k] = first + k * bytes;
  });
  for (int i = 0; i < kMost; ++i) {
    const int64_t step = x_.place[i], place = line.place[i] + r.begin * step;
    const int64_t stride = source_.stride[i], last = source_.extent[i] - 1;
    const int64_t least = source_.clamped ? 0 : INT64_MIN;
    const int64_t most = source_.clamped ? last << kPlaceBits : INT64_MAX;
    if (stride == 0) continue;
    at_cpu_level([=] {
      for (int64_t k = 0; k < n; ++k)
        to[k] += whole_part(std::clamp(place + k * step, least, most)) * stride;
    });
  }
}

template <class Mean>
void RowWarper::find_fractions(const Line& line, Range r) const {
  const int64_t n = r.end - r.begin;
  for (int i = 0; i < 2; ++i) {
    const int64_t step = x_.place[i], place = line.place[i] + r.begin * step;
    const int64_t stride = source_.stride[i], most = (source_.extent[i] - 1) << kPlaceBits;
    auto* next = next_[i];
    auto* fractions = static_cast<typename Mean::Value*>(fractions_[i]);
    at_cpu_level([=] {
      for (int64_t k = 0; k < n; ++k) {
        const int64_t at = std::clamp<int64_t>(place + k * step, 0, most);
        fractions[k] = Mean::fraction(at);
        next[k] = fractions[k] != 0 ? stride : 0;  // what has no weight may not be in memory
      }
    });
  }
}

// Makes a line of values or, with whole_pixels_, of pixels.
void RowWarper::make_line(const Line& line, bool again, std::byte* to) const {
  const int64_t size = size_of(result_), unit = whole_pixels_ ? size * channels_ : size;
  const Range r = touched(line);
  const int64_t more = unit / size;
  rows::repeat(fill_, size, to, r.begin * more);
  rows::repeat(fill_, size, to + r.end * unit, (width_ - r.end) * more);
  if (r.begin == r.end) return;
  to += r.begin * unit;
  if (!linear_) return pick_line(line, again, r, to);
  if (is_fixed_warp(type_, result_)) return mean_line<FixedMean>(line, again, r, to);
  if (is_wide(type_) || is_wide(result_)) return mean_line<FloatMean<double>>(line, again, r, to);
  mean_line<FloatMean<float>>(line, again, r, to);
}

void RowWarper::pick_line(const Line& line, bool again, Range r, std::byte* to) const {
  const int64_t size = size_of(type_), n = r.end - r.begin;
  const auto unit = static_cast<int>(whole_pixels_ ? size * channels_ : size);
  const auto pick = picker(unit);
  if (pick && whole_pixels_ && x_.bytes == 0 && source_.stride[2] == 0) {
    const auto axis = [&](int i) -> PickAxis {
      const int64_t step = x_.place[i], place = line.place[i] + r.begin * step;
      if (!source_.clamped) return {place, step, source_.stride[i], INT64_MIN, INT64_MAX};
      return {place, step, source_.stride[i], 0, (source_.extent[i] - 1) << kPlaceBits};
    };
    return pick(line.from, axis(0), axis(1), to, n);
  }
  if (!again) find_offsets(line, r);
  if (type_ == result_) return rows::gather({unit, n, offsets_}, line.from, to);
  auto* values = static_cast<std::byte*>(values_);
  rows::gather({unit, n, offsets_}, line.from, values);
  convert_row(values, type_, to, result_, n);
}

template <class Mean>
void RowWarper::mean_line(const Line& line, bool again, Range r, std::byte* to) const {
  using Value = typename Mean::Value;
  constexpr bool kFixed = std::is_same_v<Mean, FixedMean>;
  constexpr DType kType = sizeof(Value) == 4 ? DType::kFloat32 : DType::kFloat64;
  auto* made = static_cast<Value*>(values_);
  Value fill;
  if constexpr (kFixed) fill = Mean::of(std::to_integer<uint8_t>(fill_[0]));
  else convert_row(fill_, result_, &fill, kType, 1);
  const Range inside = unbounded(line, r);
  if (!again && inside.begin < inside.end) {
    find_offsets(line, inside);
    find_fractions<Mean>(line, inside);
  }
  with_type(type_, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (kSums<Mean, T>) {
      const auto between = [&](int64_t begin, int64_t end) {
        for (int64_t k = begin; k < end; ++k) {
          Line here = line;
          here.go(x_, k);
          source_.clamp(here.place);
          made[k - r.begin] = source_.between<Mean>(
              here.place, fill, [&](int64_t o) { return load<Mean, T>(here.from + o); });
        }
      };
      between(r.begin, inside.begin);
      mean_inside<Mean, T>(line.from, offsets_, next_[0], next_[1],
                           static_cast<const Value*>(fractions_[0]),
                           static_cast<const Value*>(fractions_[1]),
                           made + (inside.begin - r.begin), inside.end - inside.begin);
      between(inside.end, r.end);
    }
  });
  const int64_t n = r.end - r.begin;
  if constexpr (kFixed) {
    for (int64_t k = 0; k < n; ++k) to[k] = std::byte{Mean::result(made[k])};
  } else {
    convert_row(made, kType, to, result_, n);
  }
}

}  // namespace stoker
