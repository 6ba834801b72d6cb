// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What operators share that take each pixel from another place of a picture.
#pragma once
#include "kernels/elements/boxes.h"
#include "kernels/fused_device/value.h"
#include "kernels/rows/placed.h"
#include "kernels/warp/place_filter.h"
#include "op/loops/gpu_each.cuh"
#include "op/resize/warp_arguments.h"

namespace stoker {

// Coordinates in pixels; the centre of the first pixel is at one half.
struct Coordinates {
  double y, x;
};

// Throws WrongCall if coordinates cannot tell all places of a picture of this size.
inline TensorType with_places(const TensorType& picture) {
  const int rank = picture.shape.rank;
  for (int a : {rank - 3, rank - 2})
    require(picture.shape[a] < int64_t{1} << 28, "the picture has the shape ", picture.shape,
            ", expected fewer than 2^28 rows and columns");
  return picture;
}

// Makes each pixel of `out`, of layout HWC, of what lies in `in`, which is whole. where(y, x, n,
// ys, xs) writes the coordinates of n pixels in a row of the whole output.
template <class Where>
void displace(const View& in, const View& out, const Placing& how, const Where& where,
              Arena& scratch) {
  const int64_t n = out.shape[1], channels = in.shape[2], size = size_of(out.dtype);
  if (out.shape.volume() == 0) return;
  const rows::PlacedPixels pixels(in, how, scratch);
  const auto count = static_cast<size_t>(n);
  double *ys = scratch.array<double>(count), *xs = scratch.array<double>(count);
  const bool is_whole = out.shape[2] == channels;
  std::byte* row =
      is_whole ? nullptr : scratch.array<std::byte>(static_cast<size_t>(n * channels * size));
  for (int64_t y = 0; y < out.shape[0]; ++y) {
    where(out.origin[0] + y, out.origin[1], n, ys, xs);
    auto* to = out.as<std::byte>() + y * out.strides[0];
    pixels.make(ys, xs, n, is_whole ? to : row);
    if (is_whole) continue;
    const Shape strides = {channels * size, size};
    copy_to_dense(row + out.origin[2] * size, {n, out.shape[2]}, strides, size, to);
  }
}

// displace() on a device, for one value. F has
// `STOKER_HD Coordinates operator()(int64_t y, int64_t x) const`.
template <class F>
struct DisplacedValue {
  F where;
  bool is_moved;  // else the value stays where it is
  const std::byte* in;  // at full position 0
  int64_t channel;  // bytes from one to the next
  WarpInput source;
  Placing how;
  DType type;
  int size;
  std::byte* out;
  int64_t width, channels, pieces;

  STOKER_HD void run(int64_t k) const {
    const int64_t c = k % channels, x = k / channels % width, y = k / channels / width;
    store_value(value(in + c * channel, y, x), out + k * size);
  }

 private:
  STOKER_HD DeviceValue value(const std::byte* from, int64_t y, int64_t x) const {
    const auto load = [&](int64_t offset) { return load_value(from + offset, type); };
    if (!is_moved) return load(y * source.stride[0] + x * source.stride[1]);
    const Coordinates at = where(y, x);
    const int64_t place[WarpInput::kMost] = {place_of(at.y, how.is_between()),
                                             place_of(at.x, how.is_between()), 0};
    const DeviceValue fill = value_of(how.fill, type);
    if (!how.is_between()) return source.nearest(place, fill, load);
    if (how.is_wide())
      return is_wide(type) ? weighed<double>(place, fill, load) : weighed<float>(place, fill, load);
    if (type == DType::kUint8) {
      const int32_t sum = source.between<FixedMean>(
          place, FixedMean::of(static_cast<uint8_t>(fill.f)),
          [&](int64_t o) { return FixedMean::of(static_cast<uint8_t>(load(o).f)); });
      return value_of(static_cast<float>(FixedMean::result(sum)), type);
    }
    return is_wide(type) ? between<double>(place, fill, load) : between<float>(place, fill, load);
  }
  template <class N, class Load>
  STOKER_HD DeviceValue weighed(const int64_t (&place)[WarpInput::kMost], const DeviceValue& fill,
                                const Load& load) const {
    const PlaceTaps y(place[0], how.filter), x(place[1], how.filter);
    return value_of(filtered<N>(y, x, source, number_of<N>(fill),
                                [&](int64_t o) { return number_of<N>(load(o)); }),
                    type);
  }
  template <class N, class Load>
  STOKER_HD DeviceValue between(const int64_t (&place)[WarpInput::kMost], const DeviceValue& fill,
                                const Load& load) const {
    return value_of(source.between<FloatBlend<N>>(place, number_of<N>(fill),
                                                  [&](int64_t o) { return number_of<N>(load(o)); }),
                    type);
  }
};

struct DisplacedPicture {
  View in, out;
  Placing how;
  bool is_moved = true;
};

// Makes `count` pictures, with picture(i) and where(i) for item i.
template <class Picture, class MakeWhere>
void displace(GpuRun& r, size_t count, Picture picture, MakeWhere where) {
  using F = decltype(where(size_t{0}));
  std::vector<DisplacedValue<F>> all;
  for (size_t i = 0; i < count; ++i) {
    const DisplacedPicture d = picture(i);
    const Strided s = Strided::of(d.in);
    WarpInput source{.border = Border::kConstant};
    for (int a = 0; a < 2; ++a) source.extent[a] = d.in.full[a], source.stride[a] = s.stride[a];
    all.push_back({where(i), d.is_moved, s.data + s.offset, s.stride[2], source, d.how, d.in.dtype,
                   size_of(d.in.dtype), d.out.as<std::byte>(), d.out.full[1], d.in.full[2],
                   d.out.shape.volume()});
  }
  run_each(r, std::span(std::as_const(all)));
}

struct DisplacementArguments {
  float fill_value = 0;
  Filter interp_type = Filter::kNearest;
  int mask = 1;

  static constexpr Classes kClasses = Classes::kKept;
  void take_classes(const Checker& c) {
    std::optional<Filter> filter = interp_type;
    take_nearest(c, "interp_type", filter);
    require_class_fill(c, "fill_value", {fill_value});
  }

  void check(Checker& c) const {
    require_warp_filter(interp_type);
    c.out(c.in());
  }
  void infer(Inference& i) const { i.out(with_places(i.inputs[0])); }
  Placing placing() const { return {interp_type, fill_value}; }
  template <class Where>
  void run(Run& r, const Where& where) const {
    const View &in = r.inputs[0], &out = r.outputs[0];
    if (mask == 0) copy_window(in, out);
    else displace(in, out, placing(), where, r.scratch);
  }
  // where(i) gives the coordinates for item i.
  template <class Op, class MakeWhere>
  static void run(GpuRun& r, std::span<const Op* const> items, MakeWhere where) {
    const auto picture = [&](size_t i) {
      const BatchItem& item = r.items[i];
      return DisplacedPicture{item.inputs[0], item.outputs[0], items[i]->placing(),
                              items[i]->mask != 0};
    };
    displace(r, items.size(), picture, where);
  }
};
inline constexpr auto kDisplacementArguments = std::tuple{
    arg(&DisplacementArguments::fill_value, "fill_value", "Value outside the image."),
    arg(&DisplacementArguments::interp_type, "interp_type", "INTERP_NN or INTERP_LINEAR."),
    arg(&DisplacementArguments::mask, "mask", "0 leaves the image as it is.", kPerSample)};
inline constexpr auto kDisplacementInputs =
    ports({.name = "input", .help = "Image or sequence.", .layouts = "HWC"});
inline constexpr auto kDisplacementOutputs =
    ports({.name = "output", .help = "The image with its pixels moved."});

}  // namespace stoker
