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
  if (way_ == Way::kBytes || way_ == Way::kFloats) return;
  const auto n = static_cast<size_t>(width_);
  offsets_ = arena.array<int64_t>(n);
  values_ = arena.array<double>(n);
  if (!linear_ || pass.warp->count != 2) return;
  for (int i = 0; i < 2; ++i) {
    next_[i] = arena.array<int64_t>(n);
    fractions_[i] = arena.array<double>(n);
  }
}

// Finds whether rows are made of whole pixels, and by which loops.
void RowWarper::find_pixels(const Pass& pass, const Window& read, const Target& target) {
  if (!shares_places_) return;
  const int64_t size = size_of(type_);
  const bool is_dense = channels_ == 1 || c_.bytes == size;
  const bool makes_pixels = is_dense && type_ == result_ && target.pixels(target.first());
  whole_pixels_ = makes_pixels && !linear_;
  const Warp& w = *pass.warp;
  if (w.count != 2 || x_.bytes != 0) return;
  const int64_t pixel = source_.stride[1], row = source_.stride[0];
  const int64_t used = linear_         ? (channels_ - 1) * std::abs(c_.bytes) + size
                       : whole_pixels_ ? channels_ * size
                                       : size;
  const bool is_pixel = pixel >= used;  // else the channels are planes
  constexpr int64_t kMostBytes = INT32_MAX;
  if (pixel < size || pixel > kMostBytes || std::abs(row) > kMostBytes) return;
  pixels_ = {.from = nullptr, .row = row, .pixel = pixel, .used = is_pixel ? used : size};
  pixels_.clamped = source_.clamped;
  std::copy_n(fill_, sizeof pixels_.fill, pixels_.fill);
  for (int i = 0; i < 2; ++i) {
    pixels_.extent[i] = source_.extent[i];
    pixels_.lo[i] = read.begin[w.axis[i]];
    pixels_.hi[i] = read.end[w.axis[i]];
  }
  if (!linear_) {
    pixels_.load = rows::pick_load(pixels_.used);
    if (is_pixel) way_ = Way::kPick;
    return;
  }
  const bool are_floats = type_ == DType::kFloat32 && result_ == DType::kFloat32;
  if (is_fixed_warp(type_, result_) && pixel <= 4 && rows::has_byte_loads(pixels_)) {
    way_ = Way::kBytes;
    pixels_.load = rows::kByteLoad;
  } else if (are_floats && pixels_.used <= 4 * size && c_.bytes % size == 0) {
    way_ = Way::kFloats;
    pixels_.load = rows::float_load(pixel);
  } else {
    return;
  }
  several_ = channels_ > 1 && is_pixel;
  whole_pixels_ = makes_pixels && is_pixel;
  channel_ = c_.bytes < 0 ? used / size - 1 : 0;
  channel_step_ = c_.bytes / size;
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
  auto* to = whole_pixels_ ? out.pixels(row) : static_cast<std::byte*>(out.planes(row));
  const int64_t pitch = whole_pixels_ ? 0 : out.pitch();
  const int64_t lines = whole_pixels_ || several_ ? 1 : channels_;
  for (int64_t k = 0; k < lines; ++k, line.go(c_, 1), to += pitch) {
    if (way_ == Way::kBytes) warp_pixels<uint8_t>(line, to, pitch);
    else if (way_ == Way::kFloats) warp_pixels<float>(line, to, pitch);
    else make_line(line, shares_places_ && k > 0, to);
  }
  if (!whole_pixels_) out.finish(row);
}

template <class T>
void RowWarper::warp_pixels(const Line& line, std::byte* to, int64_t pitch) const {
  constexpr bool kBytes = std::is_same_v<T, uint8_t>;
  rows::WarpedPixels p = pixels_;
  p.from = line.from - (several_ ? channel_ * int64_t{sizeof(T)} : 0);
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
      const bool is_inside = &part == &parts[1];
      const int64_t n = std::min(rows::kWarpChunk, part.end - at);
      std::conditional_t<kBytes, uint32_t, float> quads[(kBytes ? 1 : 4) * rows::kWarpChunk];
      if constexpr (kBytes) rows::warp_bytes(p, is_inside, here.place, x_.place, n, quads);
      else rows::warp_floats(p, is_inside, here.place, x_.place, n, quads);
      put_pixels(reinterpret_cast<const T*>(quads), n, at, to, pitch);
    }
}

template <class T>
void RowWarper::put_pixels(const T* quads, int64_t n, int64_t at, std::byte* to,
                           int64_t pitch) const {
  constexpr int kSize = sizeof(T);
  constexpr int64_t kPitch = rows::kWarpChunk * kSize;
  alignas(T) std::byte planes[4 * kPitch];
  rows::split(quads, kSize, 4, planes, kPitch, n);
  if (whole_pixels_ && channels_ > 1)
    return rows::join(planes, kPitch, kSize, static_cast<int>(channels_),
                      to + at * channels_ * kSize, n);
  for (int64_t k = 0; k < (several_ ? channels_ : 1); ++k)
    std::memcpy(to + k * pitch + at * kSize,
                planes + (several_ ? channel_ + k * channel_step_ : 0) * kPitch,
                static_cast<size_t>(n * kSize));
}

void RowWarper::fill_pixels(Range r, std::byte* to, int64_t pitch) const {
  const int64_t size = size_of(result_), values = whole_pixels_ ? channels_ : 1;
  for (int64_t k = 0; k < (whole_pixels_ || !several_ ? 1 : channels_); ++k)
    rows::repeat(fill_, size, to + k * pitch + r.begin * values * size, (r.end - r.begin) * values);
}

RowWarper::Range RowWarper::unbounded(const Line& line, Range r) const {
  if (!next_[0]) return {r.begin, r.begin};
  for (int i = 0; i < 2 && !source_.clamped; ++i)
    r = narrowed(line, i, r, 0, source_.extent[i] - 1);
  return r;
}

void RowWarper::find_offsets(const Line& line, Range r) const {
  const int64_t n = r.end - r.begin;
  int64_t* to = offsets_ + r.begin;
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
  const int64_t unit = whole_pixels_ ? size * channels_ : size;
  auto* picked = type_ == result_ ? to : static_cast<std::byte*>(values_);
  Range inside{r.begin, r.begin};
  if (way_ == Way::kPick) {
    inside = narrowed(line, 0, r, pixels_.lo[0], pixels_.hi[0]);
    inside = narrowed(line, 1, inside, pixels_.lo[1], pixels_.hi[1] - pixels_.reach());
  }
  const auto gather = [&](Range part) {
    if (part.begin == part.end) return;
    if (!again) find_offsets(line, part);
    rows::gather({static_cast<int>(unit), part.end - part.begin, offsets_ + part.begin}, line.from,
                 picked + (part.begin - r.begin) * unit);
  };
  gather({r.begin, inside.begin});
  if (inside.begin < inside.end) {
    rows::WarpedPixels p = pixels_;
    p.from = line.from;
    Line here = line;
    here.go(x_, inside.begin);
    rows::pick(p, here.place, x_.place, inside.end - inside.begin,
               picked + (inside.begin - r.begin) * unit);
  }
  gather({inside.end, r.end});
  if (type_ != result_) convert_row(picked, type_, to, result_, n);
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
      mean_inside<Mean, T>(line.from, offsets_ + inside.begin, next_[0], next_[1],
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
