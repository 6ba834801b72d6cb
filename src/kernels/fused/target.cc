// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/fused/target.h"

#include <algorithm>
#include <cstring>

#include "kernels/fused/mover.h"

namespace stoker {
namespace {

constexpr int64_t kFewChannels = 16;

// The axis of the planes of a row: the one that lists are for, else a short axis of channels.
int channel_axis(const Pass& pass) {
  if (pass.channel_axis >= 0) return pass.channel_axis;
  const TensorType& t = pass.out;
  const int c = t.layout.empty() && t.shape.rank >= 3 ? t.shape.rank - 1 : t.layout.find('C');
  return c >= 0 && c < t.shape.rank && t.shape[c] <= (t.layout.empty() ? 4 : kFewChannels) ? c : -1;
}

// The entry for this channel. Positions without data may have none, hence the clamping.
int64_t entry_of(const ChannelMap& m, int64_t channel, int64_t size) {
  return m.axis < 0 ? 0 : std::clamp<int64_t>(m.start + m.step * channel, 0, size - 1);
}
float entry(const Small<float>& list, const ChannelMap& m, int64_t channel, float fallback) {
  if (list.empty()) return fallback;
  return list[static_cast<size_t>(entry_of(m, channel, static_cast<int64_t>(list.size())))];
}

ValueStep step_of(const PassStep& s, int64_t channel) {
  ValueStep v{s.from, s.to, s.pointwise != nullptr, 0, 1, 0};
  if (const TableLists* t = s.table) {
    v.list = t->bytes.data() + entry_of(s.channel, channel, t->lists) * t->pitch();
    v.entries = t->entries;
  }
  if (!s.pointwise) return v;
  v.sub = entry(s.pointwise->sub, s.channel, channel, 0);
  v.mul = entry(s.pointwise->mul, s.channel, channel, 1);
  v.add = entry(s.pointwise->add, s.channel, channel, 0);
  v.div = entry(s.pointwise->div, s.channel, channel, 1);
  return v;
}

}  // namespace

Target::Target(const Pass& pass, const View& out, Arena& arena, int row_axis)
    : data_(static_cast<std::byte*>(out.data)),
      from_(pass.steps ? pass.step[0].from : out.dtype),
      rank_(out.shape.rank),
      size_(size_of(out.dtype)),
      steps_(pass.steps),
      fills_(pass.fills),
      has_lists_(pass.channel_axis >= 0) {
  for (int a = 0; a < rank_; ++a) {
    TargetAxis& t = axis_[a];
    t = {a, out.shape[a], 0, out.shape[a], out.strides[a]};
    for (int i = 0; i < fills_; ++i) {
      t.lo = std::max(t.lo, pass.fill[i].lo[a] - out.origin[a]);
      t.hi = std::min(t.hi, pass.fill[i].hi[a] - out.origin[a]);
    }
    has_data_ = has_data_ && t.lo < t.hi;
  }
  choose_axes(pass, row_axis);
  make_steps(pass, out, arena);
  make_fills(pass, out, arena);
  if (pass.warp) make_warp_fill(pass, out, arena);
  contiguous_ = x.stride == size_;
  direct_ = steps_ == 0 && contiguous_;
  pitch_ = (x.data() * std::max(size_, size_of(from_)) + 127) / 64 * 64;
  if (has_data_ && steps_ && !contiguous_)
    made_ = arena.array<std::byte>(static_cast<size_t>(pitch_ * c.data()));
}

void Target::keep_planes(Arena& arena) {
  if (!direct_ && !left_) loaded_ = arena.array<std::byte>(static_cast<size_t>(pitch_ * c.data()));
}

void Target::choose_axes(const Pass& pass, int row_axis) {
  const int channel = channel_axis(pass);
  if (channel >= 0) c = axis_[channel];
  if (row_axis >= 0) {
    x = axis_[row_axis];
    return;
  }
  for (int a = rank_ - 1; a >= 0; --a) {
    if (a == channel) continue;
    const bool closer = std::abs(axis_[a].stride) < std::abs(x.stride);
    if (x.axis < 0 || (axis_[a].extent > 1 && (x.extent == 1 || closer))) x = axis_[a];
  }
}

void Target::make_steps(const Pass& pass, const View& out, Arena& arena) {
  if (!steps_) return;
  const int64_t origin = c.axis < 0 ? 0 : out.origin[c.axis];
  step_ = arena.array<ValueStep>(static_cast<size_t>(c.extent * steps_));
  for (int64_t i = 0; i < c.extent; ++i)
    for (int s = 0; s < steps_; ++s) step_[i * steps_ + s] = step_of(pass.step[s], origin + i);
}

void Target::make_fills(const Pass& pass, const View& out, Arena& arena) {
  const int64_t origin = c.axis < 0 ? 0 : out.origin[c.axis];
  for (int i = 0; i < fills_; ++i) {
    const PassFill& f = pass.fill[i];
    auto* values = arena.array<std::byte>(static_cast<size_t>(8 * c.extent));
    fill_[i] = {f.lo, f.hi, values};
    for (int a = 0; a < rank_; ++a) {
      fill_[i].lo[a] = std::clamp<int64_t>(f.lo[a] - out.origin[a], 0, out.shape[a]);
      fill_[i].hi[a] = std::clamp<int64_t>(f.hi[a] - out.origin[a], 0, out.shape[a]);
    }
    for (int64_t k = 0; k < c.extent; ++k) {
      const float v = entry(*f.fill, f.channel, origin + k, 0);
      std::byte rounded[8];
      convert_row(&v, DType::kFloat32, rounded, f.dtype, 1);
      const std::span rest = steps(k).subspan(static_cast<size_t>(f.first_step));
      if (rest.empty()) std::memcpy(values + 8 * k, rounded, 8);
      else rows::apply(rest, rounded, values + 8 * k, 1);
    }
  }
}

void Target::make_warp_fill(const Pass& pass, const View& out, Arena& arena) {
  const int64_t origin = c.axis < 0 ? 0 : out.origin[c.axis];
  auto* values = arena.array<std::byte>(static_cast<size_t>(8 * c.extent));
  for (int64_t k = 0; k < c.extent; ++k) {
    const float v = entry(pass.warp->fill, pass.warp_fill, origin + k, 0);
    convert_row(&v, DType::kFloat32, values + 8 * k, pass.resampled.dtype, 1);
  }
  warp_fill_ = values;
}

std::byte* Target::data_at(const Shape& row) const {
  return at(row) + c.lo * c.stride + x.lo * x.stride;
}

std::byte* Target::at(const Shape& row) const {
  int64_t offset = 0;
  for (int a = 0; a < rank_; ++a) offset += row[a] * axis_[a].stride;
  return data_ + offset;
}

Shape Target::first() const {
  Shape row = Shape::filled(rank_, 0);
  for (int a = 0; a < rank_; ++a)
    if (a != x.axis && a != c.axis) row[a] = axis_[a].lo;
  return row;
}

bool Target::next(Shape& row) const {
  for (int a = rank_ - 1; a >= 0; --a) {
    if (a == x.axis || a == c.axis) continue;
    if (++row[a] < axis_[a].hi) return true;
    row[a] = axis_[a].lo;
  }
  return false;
}

void* Target::planes(const Shape& row) { return direct_ ? data_at(row) : loaded_; }

std::byte* Target::pixels(const Shape& row) const {
  const bool are_dense = x.stride == size_ * c.data() && (c.data() == 1 || c.stride == size_);
  return steps_ == 0 && are_dense ? data_at(row) : nullptr;
}

void Target::leave_steps() {
  left_ = true;
  direct_ = contiguous_;
  loaded_ = made_;
}

void Target::finish(const Shape& row, const std::byte* planes, int64_t pitch) {
  std::byte* out = data_at(row);
  const bool steps = steps_ && !left_;
  for (int64_t k = 0; steps && k < c.data(); ++k)
    rows::apply(this->steps(c.lo + k), planes + k * pitch,
                contiguous_ ? out + k * c.stride : made_ + k * pitch_, x.data());
  if (steps && contiguous_) return;
  if (steps) planes = made_, pitch = pitch_;
  if (c.stride == size_ && x.stride == size_ * c.data() && c.data() <= kFewChannels) {
    rows::join(planes, pitch, size_, static_cast<int>(c.data()), out, x.data());
    return;
  }
  for (int64_t k = 0; k < c.data(); ++k)
    rows::copy(planes + k * pitch, size_, out + k * c.stride, x.stride, size_, x.data());
}

void Target::copy_row(const Shape& from, const Shape& to) const {
  const std::byte* in = data_at(from);
  std::byte* out = data_at(to);
  if (in == out) return;  // all rows lie in one place where channels are mixed
  if (c.data() > 1 && c.stride == size_ && x.stride == size_ * c.data()) {
    std::memcpy(out, in, static_cast<size_t>(x.stride * x.data()));
    return;
  }
  for (int64_t k = 0; k < c.data(); ++k)
    rows::copy(in + k * c.stride, x.stride, out + k * c.stride, x.stride, size_, x.data());
}

void Target::paint(Arena& arena) const {
  for (int i = 0; i < fills_; ++i) paint_around(fill_[i], arena);
}

// Outside of a box is, axis by axis, what lies before and behind it within what earlier axes left.
void Target::paint_around(const TargetFill& f, Arena& arena) const {
  auto* values = arena.array<std::byte>(static_cast<size_t>(size_ * c.extent));
  rows::copy(f.values, 8, values, size_, size_, c.extent);
  Shape lo = Shape::filled(rank_, 0), hi = lo;
  for (int a = 0; a < rank_; ++a) hi[a] = axis_[a].extent;
  for (int a = 0; a < rank_; ++a) {
    hi[a] = f.lo[a];
    paint_box(values, lo, hi, arena);
    lo[a] = f.hi[a], hi[a] = axis_[a].extent;
    paint_box(values, lo, hi, arena);
    lo[a] = f.lo[a], hi[a] = f.hi[a];
  }
}

// `values` has one value for each channel.
void Target::paint_box(const std::byte* values, const Shape& lo, const Shape& hi,
                       Arena& arena) const {
  MoveAxis box[kMaxRank];
  for (int a = 0; a < rank_; ++a)
    box[a] = {hi[a] - lo[a], axis_[a].stride, a == c.axis ? size_ : 0, nullptr};
  const int64_t first = c.axis < 0 ? 0 : lo[c.axis];
  Mover(size_, {box, static_cast<size_t>(rank_)}, arena).run(values + first * size_, at(lo));
}

}  // namespace stoker
