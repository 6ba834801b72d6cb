// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/fused/row_warper.h"

#include <algorithm>
#include <cstring>

#include "kernels/convert.h"
#include "kernels/levels.h"
#include "kernels/rows/gather.h"
#include "kernels/rows/rows.h"
#include "kernels/warp/place_filter.h"

namespace stoker {
namespace {

constexpr int64_t kShown = 1, kInside = 2;  // of RowWarper::where_

int64_t end_of_run(const uint8_t* bytes, int64_t begin, int64_t end) {
  const uint64_t eight = bytes[begin] * 0x0101010101010101u;
  int64_t k = begin;
  for (uint64_t v; k + 8 <= end; k += 8)
    if (std::memcpy(&v, bytes + k, sizeof v), v != eight) break;
  while (k < end && bytes[k] == bytes[begin]) ++k;
  return k;
}

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

// WarpInput::between() along two axes, for positions that have only values inside.
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

void RowWarper::Line::go(const Strides& s, int64_t positions) {
  for (int i = 0; i < kMost; ++i) place[i] += s.place[i] * positions;
  from += s.bytes * positions;
  fill += s.fill * positions;
}

RowWarper::RowWarper(const Pass& pass, const Strided& in, const Window& read, const View& out,
                     Target& target, Arena& arena)
    : source_(pass.warp_input(in)),
      perspective_(*pass.warp),
      type_(in.dtype),
      result_(pass.resampled.dtype),
      filter_(pass.warp->filter),
      axes_(pass.warp->count),
      width_(target.x.data()),
      channels_(target.c.data()),
      has_one_fill_(pass.warp_fill.axis < 0) {
  Shape first = out.origin;
  for (int a = 0; a < target.rank(); ++a) first[a] += target.axis(a).lo;
  const WarpPlaces places = pass.warp_places(first);
  std::copy_n(places.start, kMost, first_.place);
  first_.from = in.data + in.offset;
  first_.fill = target.warp_fill() + 8 * target.c.lo;
  c_.fill = 8;
  for (int a = 0; a < target.rank(); ++a) {
    const AxisInput& map = pass.map[a];
    Strides& s = a == target.x.axis ? x_ : a == target.c.axis ? c_ : strides_[a];
    std::copy_n(places.step[a], kMost, s.place);
    if (pass.warps(map.axis)) continue;
    s.bytes = map.step * in.stride[map.axis];
    first_.from += (map.start + map.step * first[a]) * in.stride[map.axis];
  }
  shares_places_ = std::all_of(c_.place, c_.place + kMost, [](int64_t p) { return p == 0; });
  find_pixels(pass, read, target);
  if (!whole_pixels_) target.keep_planes(arena);
  const auto n = static_cast<size_t>(width_);
  for (int i = 0; i < perspective_.count; ++i) places_[i] = arena.array<int64_t>(n);
  if (perspective_.count) where_ = arena.array<uint8_t>(n);
  find_inside();
  if (way_ == Way::kBytes || way_ == Way::kFloats) return;
  offsets_ = arena.array<int64_t>(n);
  values_ = arena.array<double>(n);
  if (filter_ != Filter::kLinear || axes_ != 2) return;
  for (int i = 0; i < 2; ++i) {
    next_[i] = arena.array<int64_t>(n);
    fractions_[i] = arena.array<double>(n);
  }
}

void RowWarper::find_inside() {
  constexpr int64_t kAny = int64_t{1} << 30;  // no place lies so far away
  const bool is_cut = source_.border == Border::kConstant;
  const int reach = filter_ == Filter::kCubic ? 2 : filter_ == Filter::kLinear;  // before the input
  for (int i = 0; i < kMost; ++i) {
    shown_lo_[i] = is_cut ? -reach : -kAny;
    shown_hi_[i] = is_cut ? source_.extent[i] + (filter_ == Filter::kCubic) : kAny;
    inside_lo_[i] = -kAny, inside_hi_[i] = kAny;
  }
  if (way_ == Way::kValues && (filter_ != Filter::kLinear || axes_ != 2)) {
    inside_hi_[0] = -kAny;  // none
  } else if (way_ == Way::kValues) {
    for (int i = 0; i < 2 && source_.border != Border::kClamp; ++i)
      inside_lo_[i] = 0, inside_hi_[i] = source_.extent[i] - 1;
  } else {
    std::copy_n(pixels_.lo, 2, inside_lo_);
    std::copy_n(pixels_.hi, 2, inside_hi_);
    inside_hi_[0] -= filter_ == Filter::kLinear;
    inside_hi_[1] -= pixels_.reach();
  }
}

// Finds whether rows are made of whole pixels, and by which loops.
void RowWarper::find_pixels(const Pass& pass, const Window& read, const Target& target) {
  if (!shares_places_) return;
  const int64_t size = size_of(type_);
  const bool is_dense = channels_ == 1 || c_.bytes == size;
  const bool makes_pixels = is_dense && type_ == result_ && target.pixels(target.first());
  const bool is_linear = filter_ == Filter::kLinear;
  whole_pixels_ = makes_pixels && filter_ == Filter::kNearest;
  const Warp& w = *pass.warp;
  const bool is_clamped = w.border == Border::kClamp;
  const bool has_border = is_clamped || (w.border == Border::kConstant && has_one_fill_);
  const bool has_loops = filter_ == Filter::kNearest || (is_linear && has_border);
  if (w.count != 2 || x_.bytes != 0 || !has_loops) return;
  const int64_t pixel = source_.stride[1], row = source_.stride[0];
  const int64_t used = is_linear       ? (channels_ - 1) * std::abs(c_.bytes) + size
                       : whole_pixels_ ? channels_ * size
                                       : size;
  const bool is_pixel = pixel >= used;  // else the channels are planes
  constexpr int64_t kMostBytes = INT32_MAX;
  if (pixel < size || pixel > kMostBytes || std::abs(row) > kMostBytes) return;
  pixels_ = {.from = nullptr, .row = row, .pixel = pixel, .used = is_pixel ? used : size};
  pixels_.clamped = is_clamped;
  std::copy_n(first_.fill, sizeof pixels_.fill, pixels_.fill);
  for (int i = 0; i < 2; ++i) {
    pixels_.extent[i] = source_.extent[i];
    pixels_.lo[i] = read.begin[w.axis[i]];
    pixels_.hi[i] = read.end[w.axis[i]];
  }
  if (!is_linear) {
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
  channel_stride_ = c_.bytes / size;
}

// The positions of `r` whose places along an axis of the source lie in [lo, hi) of its positions.
RowWarper::Stretch RowWarper::narrowed(const Line& line, int axis, Stretch r, int64_t lo,
                                       int64_t hi) const {
  int64_t place = line.place[axis], stride = x_.place[axis];
  lo *= int64_t{1} << kPlaceBits, hi *= int64_t{1} << kPlaceBits;
  if (stride == 0) return place >= lo && place < hi ? r : Stretch{r.begin, r.begin};
  if (stride < 0) {
    std::swap(lo, hi);
    place = -place, stride = -stride, lo = 1 - lo, hi = 1 - hi;
  }
  const int64_t begin = std::clamp(ceil_div(lo - place, stride), r.begin, r.end);
  return {begin, std::clamp(ceil_div(hi - place, stride), begin, r.end)};
}

void RowWarper::find_perspective(const Line& line) const {
  constexpr int64_t kUnit = int64_t{1} << kPlaceBits, kChunk = 256;
  perspective_.find(line.place, x_.place, width_, places_);
  at_cpu_level([&] {
    for (int64_t at = 0; at < width_; at += kChunk) {
      const int64_t n = std::min(kChunk, width_ - at);
      int64_t where[kChunk];
      for (int64_t k = 0; k < n; ++k) where[k] = kShown | kInside;
      for (int i = 0; i < perspective_.count; ++i) {
        const int64_t lo = shown_lo_[i] * kUnit, hi = shown_hi_[i] * kUnit;
        const int64_t first = inside_lo_[i] * kUnit, end = inside_hi_[i] * kUnit;
        const int64_t* const place = places_[i] + at;
        for (int64_t k = 0; k < n; ++k) {
          where[k] &= place[k] >= lo ? -1 : ~kShown;
          where[k] &= place[k] < hi ? -1 : ~kShown;
          where[k] &= place[k] >= first ? -1 : ~kInside;
          where[k] &= place[k] < end ? -1 : ~kInside;
        }
      }
      uint8_t* const to = where_ + at;
      for (int64_t k = 0; k < n; ++k) to[k] = static_cast<uint8_t>(where[k]);
    }
  });
}

template <class Shown, class Hidden>
void RowWarper::split(const Line& line, const Shown& shown, const Hidden& hidden) const {
  if (!perspective_.count) {
    Stretch all{0, width_};
    for (int i = 0; i < kMost && source_.border == Border::kConstant; ++i)
      all = narrowed(line, i, all, shown_lo_[i], shown_hi_[i]);
    Stretch inside = all;
    for (int i = 0; i < 2; ++i) inside = narrowed(line, i, inside, inside_lo_[i], inside_hi_[i]);
    if (all.begin > 0) hidden(Stretch{0, all.begin});
    if (all.begin < all.end) shown(all, inside);
    if (all.end < width_) hidden(Stretch{all.end, width_});
    return;
  }
  for (int64_t k = 0; k < width_;) {
    const Stretch r{k, end_of_run(where_, k, width_)};
    if (!(where_[k] & kShown)) hidden(r);
    else shown(r, where_[k] & kInside ? r : Stretch{k, k});
    k = r.end;
  }
}

void RowWarper::run(Target& out, const Shape& row) const {
  Line line = first_;
  for (int a = 0; a < out.rank(); ++a)
    if (a != out.x.axis && a != out.c.axis) line.go(strides_[a], row[a] - out.axis(a).lo);
  auto* to = whole_pixels_ ? out.pixels(row) : static_cast<std::byte*>(out.planes(row));
  const int64_t pitch = whole_pixels_ ? 0 : out.pitch();
  const int64_t lines = whole_pixels_ || several_ ? 1 : channels_;
  for (int64_t k = 0; k < lines; ++k, line.go(c_, 1), to += pitch) {
    const bool again = shares_places_ && k > 0;
    if (perspective_.count && !again) find_perspective(line);
    split(
        line,
        [&](Stretch shown, Stretch inside) {
          if (way_ == Way::kBytes) warp_pixels<uint8_t>(line, shown, inside, to, pitch);
          else if (way_ == Way::kFloats) warp_pixels<float>(line, shown, inside, to, pitch);
          else make_line(line, again, shown, inside, to);
        },
        [&](Stretch hidden) { fill_pixels(line, hidden, to, pitch); });
  }
  if (!whole_pixels_) out.finish(row);
}

rows::PlaceRow RowWarper::places(const Line& line, int64_t begin) const {
  if (perspective_.count) return {.list = {places_[0] + begin, places_[1] + begin}};
  rows::PlaceRow row{{line.place[0], line.place[1]}, {x_.place[0], x_.place[1]}};
  return row.behind(begin);
}

template <class F>
void RowWarper::with_places(const Line& line, Stretch r, int axis, const F& f) const {
  if (perspective_.count) return f([p = places_[axis] + r.begin](int64_t k) { return p[k]; });
  const int64_t stride = x_.place[axis], first = line.place[axis] + r.begin * stride;
  f([=](int64_t k) { return first + k * stride; });
}

template <class T>
void RowWarper::warp_pixels(const Line& line, Stretch shown, Stretch inside, std::byte* to,
                            int64_t pitch) const {
  constexpr bool kBytes = std::is_same_v<T, uint8_t>;
  rows::WarpedPixels p = pixels_;
  p.from = line.from - (several_ ? channel_ * int64_t{sizeof(T)} : 0);
  const Stretch parts[] = {
      {shown.begin, inside.begin}, {inside.begin, inside.end}, {inside.end, shown.end}};
  for (const Stretch& part : parts)
    for (int64_t at = part.begin; at < part.end; at += rows::kWarpChunk) {
      const rows::PlaceRow row = places(line, at);
      const bool is_inside = &part == &parts[1];
      const int64_t n = std::min(rows::kWarpChunk, part.end - at);
      std::conditional_t<kBytes, uint32_t, float> quads[(kBytes ? 1 : 4) * rows::kWarpChunk];
      if constexpr (kBytes) rows::warp_bytes(p, is_inside, row, n, quads);
      else rows::warp_floats(p, is_inside, row, n, quads);
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
                planes + (several_ ? channel_ + k * channel_stride_ : 0) * kPitch,
                static_cast<size_t>(n * kSize));
}

void RowWarper::fill_pixels(const Line& line, Stretch r, std::byte* to, int64_t pitch) const {
  const int64_t size = size_of(result_), values = whole_pixels_ ? channels_ : 1;
  if (values > 1 && !has_one_fill_) {
    for (int64_t k = r.begin * values; k < r.end * values; ++k)
      std::memcpy(to + k * size, line.fill + 8 * (k % values), static_cast<size_t>(size));
    return;
  }
  for (int64_t k = 0; k < (whole_pixels_ || !several_ ? 1 : channels_); ++k)
    rows::repeat(line.fill, size, to + k * pitch + r.begin * values * size,
                 (r.end - r.begin) * values);
}

void RowWarper::find_offsets(const Line& line, Stretch r) const {
  const int64_t n = r.end - r.begin;
  int64_t* to = offsets_ + r.begin;
  const int64_t first = r.begin * x_.bytes, bytes = x_.bytes;
  at_cpu_level([=] {
    for (int64_t k = 0; k < n; ++k) to[k] = first + k * bytes;
  });
  for (int i = 0; i < kMost; ++i) {
    const int64_t stride = source_.stride[i], last = source_.extent[i] - 1;
    const bool is_clamped = source_.border == Border::kClamp;
    const int64_t least = is_clamped ? 0 : INT64_MIN;
    const int64_t most = is_clamped ? last << kPlaceBits : INT64_MAX;
    if (stride == 0) continue;
    with_places(line, r, i, [=, this](auto place) {
      if (!is_clamped && source_.border != Border::kConstant) {
        for (int64_t k = 0; k < n; ++k) to[k] += source_.shown(i, whole_part(place(k))) * stride;
        return;
      }
      at_cpu_level([=] {
        for (int64_t k = 0; k < n; ++k)
          to[k] += whole_part(std::clamp(place(k), least, most)) * stride;
      });
    });
  }
}

template <class Mean>
void RowWarper::find_fractions(const Line& line, Stretch r) const {
  const int64_t n = r.end - r.begin;
  for (int i = 0; i < 2; ++i) {
    const int64_t stride = source_.stride[i], most = (source_.extent[i] - 1) << kPlaceBits;
    auto* next = next_[i] + r.begin;
    auto* fractions = static_cast<typename Mean::Value*>(fractions_[i]) + r.begin;
    with_places(line, r, i, [=](auto place) {
      at_cpu_level([=] {
        for (int64_t k = 0; k < n; ++k) {
          const int64_t at = std::clamp<int64_t>(place(k), 0, most);
          fractions[k] = Mean::fraction(at);
          next[k] = fractions[k] != 0 ? stride : 0;  // what has no weight may not be in memory
        }
      });
    });
  }
}

RowWarper::Line RowWarper::line_at(Line line, int64_t k) const {
  line.go(x_, k);
  for (int i = 0; i < perspective_.count; ++i) line.place[i] = places_[i][k];
  return line;
}

// Makes values of a line or, with whole_pixels_, pixels.
void RowWarper::make_line(const Line& line, bool again, Stretch shown, Stretch inside,
                          std::byte* to) const {
  to += shown.begin * size_of(result_) * (whole_pixels_ ? channels_ : 1);
  if (filter_ == Filter::kNearest) return pick_line(line, again, shown, inside, to);
  if (filter_ == Filter::kCubic) {
    if (is_wide(type_) || is_wide(result_)) return cubic_line<double>(line, shown, to);
    return cubic_line<float>(line, shown, to);
  }
  if (is_fixed_warp(type_, result_)) return mean_line<FixedMean>(line, again, shown, inside, to);
  if (is_wide(type_) || is_wide(result_))
    return mean_line<FloatBlend<double>>(line, again, shown, inside, to);
  mean_line<FloatBlend<float>>(line, again, shown, inside, to);
}

void RowWarper::pick_line(const Line& line, bool again, Stretch shown, Stretch inside,
                          std::byte* to) const {
  const int64_t size = size_of(type_), n = shown.end - shown.begin;
  const int64_t unit = whole_pixels_ ? size * channels_ : size;
  auto* picked = type_ == result_ ? to : static_cast<std::byte*>(values_);
  const auto gather = [&](Stretch part) {
    if (part.begin == part.end) return;
    if (!again) find_offsets(line, part);
    rows::gather({static_cast<int>(unit), part.end - part.begin, offsets_ + part.begin}, line.from,
                 picked + (part.begin - shown.begin) * unit);
  };
  gather({shown.begin, inside.begin});
  if (inside.begin < inside.end) {
    rows::WarpedPixels p = pixels_;
    p.from = line.from;
    rows::pick(p, places(line, inside.begin), inside.end - inside.begin,
               picked + (inside.begin - shown.begin) * unit);
  }
  gather({inside.end, shown.end});
  if (type_ != result_) convert_row(picked, type_, to, result_, n);
}

template <class Mean>
void RowWarper::mean_line(const Line& line, bool again, Stretch shown, Stretch inside,
                          std::byte* to) const {
  using Value = typename Mean::Value;
  constexpr bool kFixed = std::is_same_v<Mean, FixedMean>;
  constexpr DType kType = sizeof(Value) == 4 ? DType::kFloat32 : DType::kFloat64;
  auto* made = static_cast<Value*>(values_);
  Value fill;
  if constexpr (kFixed) fill = Mean::of(std::to_integer<uint8_t>(line.fill[0]));
  else convert_row(line.fill, result_, &fill, kType, 1);
  if (!again && inside.begin < inside.end) {
    find_offsets(line, inside);
    find_fractions<Mean>(line, inside);
  }
  with_type(type_, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (kSums<Mean, T>) {
      const auto between = [&](int64_t begin, int64_t end) {
        for (int64_t k = begin; k < end; ++k) {
          const Line here = line_at(line, k);
          made[k - shown.begin] = source_.between<Mean>(
              here.place, fill, [&](int64_t o) { return load<Mean, T>(here.from + o); });
        }
      };
      between(shown.begin, inside.begin);
      mean_inside<Mean, T>(line.from, offsets_ + inside.begin, next_[0] + inside.begin,
                           next_[1] + inside.begin,
                           static_cast<const Value*>(fractions_[0]) + inside.begin,
                           static_cast<const Value*>(fractions_[1]) + inside.begin,
                           made + (inside.begin - shown.begin), inside.end - inside.begin);
      between(inside.end, shown.end);
    }
  });
  const int64_t n = shown.end - shown.begin;
  if constexpr (kFixed) {
    for (int64_t k = 0; k < n; ++k) to[k] = std::byte{Mean::result(made[k])};
  } else {
    convert_row(made, kType, to, result_, n);
  }
}

template <class N>
void RowWarper::cubic_line(const Line& line, Stretch shown, std::byte* to) const {
  constexpr DType kType = sizeof(N) == 4 ? DType::kFloat32 : DType::kFloat64;
  auto* made = static_cast<N*>(values_);
  N fill;
  convert_row(line.fill, result_, &fill, kType, 1);
  with_type(type_, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (kSums<FloatBlend<N>, T>)
      for (int64_t k = shown.begin; k < shown.end; ++k) {
        const Line here = line_at(line, k);
        made[k - shown.begin] = warped_cubic(here.place, source_, fill, [&](int64_t o) {
          return load<FloatBlend<N>, T>(here.from + o);
        });
      }
  });
  convert_row(made, kType, to, result_, shown.end - shown.begin);
}

}  // namespace stoker
