// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/fused/row_resampler.h"

#include <algorithm>

#include "kernels/convert.h"

namespace stoker {
namespace {

const ResampleAxis& along_row(const Resample& r) { return r.axis[r.count - 1]; }

// Every `step`th input channel from `first` on, of [begin, begin + used), `stride` bytes apart.
struct InputChannels {
  int64_t first = 0, step = 0, begin = 0, used = 1, stride = 0;
};
InputChannels channels_of(const Pass& pass, const Strided& in, const View* out,
                          const Target& target) {
  if (target.c.axis < 0) return {};
  const AxisInput& map = pass.map[target.c.axis];
  const int64_t origin = out ? out->origin[target.c.axis] : 0;
  InputChannels c{map.start + map.step * (origin + target.c.lo), map.step, 0, 0,
                  in.stride[map.axis]};
  const int64_t last = c.first + c.step * (target.c.data() - 1);
  c.begin = std::min(c.first, last);
  c.used = std::max(c.first, last) - c.begin + 1;
  return c;
}

bool shares_pixels(const InputChannels& c, int64_t x_stride, int64_t size) {
  const bool whole = x_stride > 0 && x_stride % size == 0 && x_stride <= 4 * size;
  return whole && (c.used == 1 || (c.stride == size && c.used <= x_stride / size));
}

// One tap of weight one, for a resampling that has no axis before the rows.
const int16_t kFixedOne[2] = {1 << kTapBits, 0};
const float kFloatOne[2] = {1, 0};
const double kWideOne = 1;

}  // namespace

bool RowResampler::suits(const Pass& pass, const Strided& in, const Target& target) {
  const Resample& r = pass.resample;
  if (r.count > 2) return false;
  const int x = target.x.axis, c = target.c.axis;
  if (x < 0 || pass.map[x].axis != along_row(r).axis) return false;
  if (r.count == 2 && c >= 0 && pass.map[c].axis == r.axis[0].axis) return false;
  const int64_t size = size_of(in.dtype), stride = in.stride[along_row(r).axis];
  return stride == size || shares_pixels(channels_of(pass, in, nullptr, target), stride, size);
}

RowResampler::RowResampler(const Pass& pass, const Strided& in, const View& out, Target& target,
                           Arena& arena)
    : fixed_(in.dtype == DType::kUint8 && pass.resampled.dtype == DType::kUint8),
      wide_(is_wide(in.dtype) || is_wide(pass.resampled.dtype)),
      type_(in.dtype),
      result_(pass.resampled.dtype),
      data_(in.data),
      offset_(in.offset),
      x_stride_(in.stride[along_row(pass.resample).axis]) {
  const int64_t size = size_of(type_);
  const InputChannels c = channels_of(pass, in, &out, target);
  if (shares_pixels(c, x_stride_, size)) {
    pixel_ = static_cast<int>(x_stride_ / size);
    channel_ = static_cast<int>(c.first - c.begin);
    channel_step_ = static_cast<int>(c.step);
    values_ = c.used;
    offset_ += c.begin * c.stride;
  } else {
    plane_stride_ = c.step * c.stride;
    offset_ += c.first * c.stride;
  }
  for (int a = 0; a < target.rank(); ++a) {
    const AxisInput& map = pass.map[a];
    if (a == target.x.axis || a == target.c.axis) continue;
    if (pass.resample.count == 2 && map.axis == pass.resample.axis[0].axis) {
      y_ = a;
      y_lo_ = target.axis(a).lo;
      row_stride_ = in.stride[map.axis];
    } else {
      outer_[a] = map.step * in.stride[map.axis];
      offset_ += (map.start + map.step * out.origin[a]) * in.stride[map.axis];
    }
  }
  if (wide_) {
    wide_columns_ = make_taps(pass, out, target, wide_rows_, arena);
    row_ = arena.array<double>(static_cast<size_t>(values_ + rows::kWideSlack));
    summed_ = arena.array<double>(static_cast<size_t>(wide_columns_.count * pixel_));
  } else if (!fixed_) {
    prepare_float(make_taps(pass, out, target, float_rows_, arena), arena);
  }
  if (!fixed_) {
    whole_pixels_ = pixel_ == target.c.data() && (pixel_ == 1 || channel_step_ == 1) &&
                    target.pixels(target.first());
    if (!whole_pixels_) target.keep_planes(arena);
    return;
  }
  prepare_fixed(make_taps(pass, out, target, fixed_rows_, arena), arena);
  within_ = std::none_of(pass.resample.axis, pass.resample.axis + pass.resample.count,
                         [](const ResampleAxis& a) { return has_negative_weights(a.filter); });
  const auto steps = target.steps(target.c.lo);
  steps_ = steps.size() == 1 && rows::sums_into(steps[0]);
  if (steps_) target.leave_steps();
  else target.keep_planes(arena);
}

template <class W>
TapTable<W> RowResampler::make_taps(const Pass& pass, const View& out, const Target& target,
                                    TapTable<W>& rows, Arena& arena) {
  const auto table = [&](const TargetAxis& t, const ResampleAxis& r) {
    const AxisInput& map = pass.map[t.axis];
    return tap_table<W>(r, pass.viewed.shape[r.axis],
                        map.start + map.step * (out.origin[t.axis] + t.lo), map.step, t.data(),
                        arena);
  };
  if (y_ >= 0) rows = table(target.axis(y_), pass.resample.axis[0]);
  const auto columns = table(target.x, along_row(pass.resample));
  offset_ += columns.begin * x_stride_;
  values_ += (columns.end - columns.begin - 1) * pixel_;
  return columns;
}

void RowResampler::prepare_fixed(const TapTable<int16_t>& columns, Arena& arena) {
  line_ = rows::line_taps(columns, arena);
  const int64_t slack = rows::line_slack(line_), pixels = columns.end - columns.begin;
  row_ = arena.array<int16_t>(static_cast<size_t>((pixels + rows::kVectorSlack) * pixel_ + slack));
  if (pixel_ == 1) return;
  pitch_ = (pixels + rows::kVectorSlack + slack + 31) / 32 * 32;
  planes_ = arena.array<int16_t>(static_cast<size_t>(pitch_ * pixel_));
}

void RowResampler::prepare_float(const TapTable<float>& columns, Arena& arena) {
  pixels_ = rows::pixel_taps(columns, pixel_, arena);
  row_ = arena.array<float>(static_cast<size_t>(values_ + rows::row_slack(pixels_)));
  summed_ = arena.array<float>(static_cast<size_t>(pixels_.count * pixel_));
  if (pixel_ > 1) planes_ = arena.array<float>(static_cast<size_t>(pixels_.count * pixel_));
}

void RowResampler::run(Target& out, const Shape& row) const {
  const std::byte* from = data_ + offset_;
  for (int a = 0; a < out.rank(); ++a)
    if (a != out.x.axis && a != out.c.axis && a != y_) from += row[a] * outer_[a];
  const int64_t y = y_ < 0 ? 0 : row[y_] - y_lo_;
  if (whole_pixels_) {
    std::byte* pixels = out.pixels(row);
    return wide_ ? load_wide_pixels(from, y, pixels) : load_float_pixels(from, y, pixels);
  }
  auto* to = static_cast<std::byte*>(out.planes(row));
  const int64_t planes = plane_stride_ ? out.c.data() : 1,
                channels = plane_stride_ ? 1 : out.c.data();
  for (int64_t p = 0; p < planes; ++p) {
    if (wide_) load_wide(from + p * plane_stride_, y, to + p * out.pitch(), out.pitch(), channels);
    else if (fixed_)
      load_fixed(from + p * plane_stride_, y, out, p, channels, to + p * out.pitch());
    else load_float(from + p * plane_stride_, y, to + p * out.pitch(), out.pitch(), channels);
  }
  out.finish(row);
}

void RowResampler::load_fixed(const std::byte* from, int64_t y, const Target& out, int64_t first,
                              int64_t channels, std::byte* to) const {
  auto* top = reinterpret_cast<const uint8_t*>(from);
  auto* row = static_cast<int16_t*>(row_);
  if (y_ < 0) rows::sum_rows(top, 0, kFixedOne, 1, values_, row);
  else
    rows::sum_rows(top + fixed_rows_.first[y] * row_stride_, row_stride_, fixed_rows_.row(y),
                   fixed_rows_.taps[y], values_, row);
  auto* planes = pixel_ == 1 ? row : static_cast<int16_t*>(planes_);
  if (pixel_ > 1) rows::split_words(row, pixel_, planes, pitch_, (values_ + pixel_ - 1) / pixel_);
  rows::sum_lines({planes + channel_ * pitch_, channels, channel_step_ * pitch_,
                   steps_ ? out.steps(out.c.lo + first).data() : nullptr, within_, to, out.pitch()},
                  line_);
}

void RowResampler::sum_float(const std::byte* from, int64_t y, void* pixels) const {
  auto* row = static_cast<float*>(row_);
  if (y_ < 0) rows::sum_rows(from, type_, 0, kFloatOne, 1, values_, row);
  else
    rows::sum_rows(from + float_rows_.first[y] * row_stride_, type_, row_stride_,
                   float_rows_.row(y), float_rows_.taps[y], values_, row);
  rows::sum_pixels(row, pixels_, pixels);
}

void RowResampler::load_float_pixels(const std::byte* from, int64_t y, std::byte* to) const {
  if (result_ == DType::kFloat32) return sum_float(from, y, to);
  sum_float(from, y, summed_);
  const ValueStep round{DType::kFloat32, result_, false, 0, 1, 0};
  rows::apply({&round, 1}, summed_, to, pixels_.count * pixel_);
}

void RowResampler::load_float(const std::byte* from, int64_t y, std::byte* to, int64_t pitch,
                              int64_t channels) const {
  if (pixel_ == 1) return load_float_pixels(from, y, to);
  const int64_t n = pixels_.count;
  sum_float(from, y, summed_);
  if (result_ == DType::kFloat32 && channels == pixel_ && channel_step_ == 1)
    return rows::split(summed_, sizeof(float), pixel_, to, pitch, n);
  auto* planes = static_cast<float*>(planes_);
  rows::split(summed_, sizeof(float), pixel_, planes, n * static_cast<int64_t>(sizeof(float)), n);
  const ValueStep round{DType::kFloat32, result_, false, 0, 1, 0};
  for (int64_t k = 0; k < channels; ++k)
    rows::apply({&round, 1}, planes + (channel_ + k * channel_step_) * n, to + k * pitch, n);
}

void RowResampler::sum_wide(const std::byte* from, int64_t y, void* pixels) const {
  auto* row = static_cast<double*>(row_);
  if (y_ < 0) rows::sum_rows(from, type_, 0, &kWideOne, 1, values_, row);
  else
    rows::sum_rows(from + wide_rows_.first[y] * row_stride_, type_, row_stride_, wide_rows_.row(y),
                   wide_rows_.taps[y], values_, row);
  rows::sum_pixels(row, pixel_, wide_columns_, pixels);
}

void RowResampler::load_wide_pixels(const std::byte* from, int64_t y, std::byte* to) const {
  if (result_ == DType::kFloat64) return sum_wide(from, y, to);
  sum_wide(from, y, summed_);
  rows::round(static_cast<const double*>(summed_), result_, to, wide_columns_.count * pixel_);
}

void RowResampler::load_wide(const std::byte* from, int64_t y, std::byte* to, int64_t pitch,
                             int64_t channels) const {
  if (pixel_ == 1) return load_wide_pixels(from, y, to);
  sum_wide(from, y, summed_);
  const auto* pixels = static_cast<const double*>(summed_);
  for (int64_t k = 0; k < channels; ++k)
    convert_row(pixels + channel_ + k * channel_step_, DType::kFloat64,
                pixel_ * static_cast<int64_t>(sizeof(double)), to + k * pitch, result_,
                size_of(result_), wide_columns_.count);
}

}  // namespace stoker
