// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/rows/placed.h"

#include <cstring>

#include "kernels/convert.h"
#include "kernels/levels.h"
#include "kernels/rows/filtered.h"
#include "kernels/rows/gather.h"
#include "kernels/rows/rows.h"
#include "kernels/strided_copy.h"
#include "kernels/warp/place_filter.h"

namespace stoker::rows {
namespace {

// The value at a place. load(offset) gives a value of the picture.
template <class T, class Load>
T placed_value(const int64_t (&place)[WarpInput::kMost], const WarpInput& source, bool between,
               T fill, const Load& load) {
  if (!between) return source.nearest(place, fill, load);
  using Mean = std::conditional_t<std::is_same_v<T, uint8_t>, FixedMean,
                                  FloatBlend<std::conditional_t<kIsWide<T>, double, float>>>;
  const auto sum = source.between<Mean>(place, Mean::of(fill),
                                        [&](int64_t offset) { return Mean::of(load(offset)); });
  if constexpr (std::is_same_v<T, uint8_t>) return Mean::result(sum);
  else return convert<T>(sum);
}

// filtered() of a whole pixel whose taps lie inside, the first of them at `from`.
constexpr int64_t kMostChannels = 4;
template <class T, class N>
void filter_inside(const PlaceTaps& y, const PlaceTaps& x, const std::byte* from, int64_t row,
                   int64_t channels, T* to) {
  N sum[kMostChannels] = {};
  for (int i = 0; i < y.count; ++i, from += row) {
    const T* at = reinterpret_cast<const T*>(from);
    N line[kMostChannels] = {};
    for (int j = 0; j < x.count; ++j, at += channels)
      for (int64_t c = 0; c < channels; ++c)
        line[c] += static_cast<N>(x.weight[j]) * convert<N>(at[c]);
    for (int64_t c = 0; c < channels; ++c) sum[c] += static_cast<N>(y.weight[i]) * line[c];
  }
  for (int64_t c = 0; c < channels; ++c) to[c] = convert<T>(sum[c]);
}

// Places in [low, high) positions.
struct PlaceLimits {
  uint64_t low, length;

  PlaceLimits(int64_t lo, int64_t hi)
      : low(static_cast<uint64_t>(lo) << kPlaceBits),
        length(static_cast<uint64_t>(std::max<int64_t>(hi - lo, 0)) << kPlaceBits) {}
  bool has(int64_t place) const { return static_cast<uint64_t>(place) - low < length; }
};

// Pixels of one kind in a row are made at once: those whose places are inside, those where they may
// lie outside, and, if `is_exact`, those that have a whole place.
constexpr uint8_t kInside = 1, kWhole = 2;
void find_kinds(const int64_t* y, const int64_t* x, int64_t n, PlaceLimits down, PlaceLimits right,
                bool is_exact, uint8_t* kind) {
  for (int64_t k = 0; k < n; ++k) {
    const bool is_down = down.has(y[k]), is_right = right.has(x[k]);
    kind[k] = is_down & is_right;
  }
  if (!is_exact) return;
  for (int64_t k = 0; k < n; ++k) {
    const bool is_whole = (static_cast<uint32_t>(y[k]) == 0) | (static_cast<uint32_t>(x[k]) == 0);
    kind[k] |= is_whole ? kWhole : 0;
  }
}

}  // namespace

PlacedPixels::PlacedPixels(const View& picture, const Placing& how, Arena& scratch)
    : picture_(picture), how_(how) {
  const int64_t size = size_of(picture.dtype);
  channels_ = picture.shape[2], unit_ = channels_ * size;
  const bool is_dense = picture.strides[2] == size && picture.strides[1] == unit_;
  if (!is_dense) {
    void* copied = scratch.allocate(static_cast<size_t>(picture.bytes()));
    copy_to_dense(picture, copied);
    picture_ = View::dense(copied, picture.dtype, picture.shape);
  }
  source_.border = Border::kConstant;
  pixels_ = {
      .from = picture_.as<std::byte>(), .row = picture_.strides[0], .pixel = unit_, .used = unit_};
  pixels_.clamped = false;
  convert_row(&how_.fill, DType::kFloat32, fill_, picture_.dtype, 1);
  std::copy_n(fill_, sizeof pixels_.fill, pixels_.fill);
  for (int a = 0; a < 2; ++a) {
    source_.extent[a] = pixels_.extent[a] = pixels_.hi[a] = picture_.shape[a];
    source_.stride[a] = picture_.strides[a];
    pixels_.lo[a] = 0;
  }
  const int64_t row = std::abs(pixels_.row);
  const bool is_small = unit_ > 0 && unit_ <= INT32_MAX && row <= INT32_MAX;
  const bool is_bytes = picture_.dtype == DType::kUint8 && unit_ <= 4,
             is_floats = picture_.dtype == DType::kFloat32 && channels_ <= 4;
  if (!is_small || picture_.shape.volume() == 0) {
    way_ = Way::kValues;
  } else if (how_.is_wide()) {
    way_ = is_bytes ? Way::kBytes : is_floats ? Way::kFloats : Way::kValues;
    pixels_.load = is_bytes ? filter_load<uint8_t>(how_.filter, unit_)
                            : filter_load<float>(how_.filter, unit_);
  } else if (!how_.is_between()) {
    // Offsets have 32 bits, one of which stands for none.
    const bool fits =
        picture_.shape[0] <= (INT32_MAX - picture_.shape[1] * unit_) / std::max<int64_t>(row, 1);
    way_ = fits ? Way::kPick : Way::kValues;
    pixels_.load = pick_load(unit_);
    auto* filled = scratch.array<std::byte>(static_cast<size_t>(pixels_.load));
    repeat(fill_, size, filled, channels_);
    filled_ = filled;
  } else if (is_bytes && has_byte_loads(pixels_)) {
    way_ = Way::kBytes;
    pixels_.load = kByteLoad;
  } else if (is_floats) {
    way_ = Way::kFloats;
    pixels_.load = float_load(unit_);
  }
  const int before = how_.is_wide() ? PlaceTaps::before(how_.filter) : 0;
  lo_[0] = lo_[1] = before;
  hi_[0] = picture_.shape[0] - (how_.is_wide() ? before + 1 : how_.is_between());
  hi_[1] = picture_.shape[1] - (way_ == Way::kValues ? 0 : pixels_.reach() - before);
}

void PlacedPixels::make(double* y, double* x, int64_t n, std::byte* to) const {
  int64_t y_place[kWarpChunk], x_place[kWarpChunk];
  for (int64_t k = 0; k < n; k += kWarpChunk) {
    const int64_t some = std::min(kWarpChunk, n - k);
    if (way_ == Way::kPick) {
      pick_some(y + k, x + k, some, to + k * unit_);
      continue;
    }
    at_cpu_level([=, y_to = &y_place[0], x_to = &x_place[0], between = how_.is_between()] {
      find_places(y + k, some, between, y_to);
      find_places(x + k, some, between, x_to);
    });
    make_some(y_place, x_place, some, to + k * unit_);
  }
}

void PlacedPixels::pick_some(double* y, double* x, int64_t n, std::byte* to) const {
  int32_t offset[kWarpChunk];
  const auto height = static_cast<uint32_t>(std::min<int64_t>(picture_.shape[0], INT32_MAX)),
             width = static_cast<uint32_t>(picture_.shape[1]),
             row = static_cast<uint32_t>(pixels_.row), pixel = static_cast<uint32_t>(unit_);
  int32_t right[kWarpChunk];
  at_cpu_level([=, offset = &offset[0], right = &right[0]] {
    find_whole_parts(y, n, offset);
    find_whole_parts(x, n, right);
    for (int64_t k = 0; k < n; ++k) {
      const auto i = static_cast<uint32_t>(offset[k]), j = static_cast<uint32_t>(right[k]);
      const auto at = static_cast<int32_t>(i * row + j * pixel);
      offset[k] = ((i < height) & (j < width)) ? at : kNowhere;
    }
  });
  pick_at(pixels_, offset, filled_, n, to);
}

void PlacedPixels::make_some(const int64_t* y, const int64_t* x, int64_t n, std::byte* to) const {
  if (way_ == Way::kValues) return make_any(y, x, n, to);
  uint8_t kind[kWarpChunk];
  const PlaceLimits down{lo_[0], hi_[0]}, right{lo_[1], hi_[1]};
  const bool is_exact = how_.is_wide() && way_ == Way::kFloats;
  at_cpu_level([=, to = &kind[0]] { find_kinds(y, x, n, down, right, is_exact, to); });
  for (int64_t k = 0, end; k < n; k = end) {
    for (end = k + 1; end < n && kind[end] == kind[k];) ++end;
    const PlaceRow at{.list = {y + k, x + k}};
    std::byte* made = to + k * unit_;
    if (kind[k] & kWhole) make_any(y + k, x + k, end - k, made);
    else if (way_ == Way::kBytes) blend<uint8_t>(at, kind[k] & kInside, end - k, made);
    else blend<float>(at, kind[k] & kInside, end - k, made);
  }
}

template <class T>
void PlacedPixels::blend(const PlaceRow& at, bool inside, int64_t n, std::byte* to) const {
  constexpr bool kBytes = sizeof(T) == 1;
  constexpr int64_t kPitch = kWarpChunk * sizeof(T);
  std::conditional_t<kBytes, uint32_t, float> quads[(kBytes ? 1 : 4) * kWarpChunk];
  if constexpr (kBytes) {
    if (how_.is_wide()) filter_bytes(pixels_, how_.filter, inside, at, n, quads);
    else warp_bytes(pixels_, inside, at, n, quads);
  } else {
    if (how_.is_wide()) filter_floats(pixels_, how_.filter, inside, at, n, quads);
    else warp_floats(pixels_, inside, at, n, quads);
  }
  if (channels_ == 4) return void(std::memcpy(to, quads, static_cast<size_t>(n * unit_)));
  alignas(16) std::byte planes[4 * kPitch];
  split(quads, sizeof(T), 4, planes, kPitch, n);
  if (channels_ == 1) std::memcpy(to, planes, static_cast<size_t>(n * unit_));
  else join(planes, kPitch, sizeof(T), static_cast<int>(channels_), to, n);
}

void PlacedPixels::make_any(const int64_t* y, const int64_t* x, int64_t n, std::byte* to) const {
  with_type(picture_.dtype, [&](auto zero) {
    using T = decltype(zero);
    T fill;
    std::memcpy(&fill, fill_, sizeof fill);
    auto* out = reinterpret_cast<T*>(to);
    const auto load = [&](const std::byte* from, int64_t offset) {
      return *reinterpret_cast<const T*>(from + offset);
    };
    if (how_.is_wide()) {
      using N = std::conditional_t<kIsWide<T>, double, float>;
      for (int64_t k = 0; k < n; ++k, out += channels_) {
        const PlaceTaps down(y[k], how_.filter), right(x[k], how_.filter);
        if (channels_ <= kMostChannels && source_.is_inside(0, down.first, down.count - 1) &&
            source_.is_inside(1, right.first, right.count - 1)) {
          const auto* from = pixels_.from + down.first * pixels_.row + right.first * unit_;
          filter_inside<T, N>(down, right, from, pixels_.row, channels_, out);
          continue;
        }
        for (int64_t c = 0; c < channels_; ++c)
          out[c] = convert<T>(filtered<N>(down, right, source_, convert<N>(fill), [&](int64_t o) {
            return convert<N>(load(pixels_.from + c * sizeof(T), o));
          }));
      }
      return;
    }
    for (int64_t k = 0; k < n; ++k)
      for (int64_t c = 0; c < channels_; ++c)
        *out++ = placed_value({y[k], x[k], 0}, source_, how_.is_between(), fill,
                              [&](int64_t o) { return load(pixels_.from + c * sizeof(T), o); });
  });
}

}  // namespace stoker::rows
