// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/fused/pass.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "kernels/resample/resample.h"
#include "kernels/resample/taps.h"

namespace stoker {
namespace {

// The positions p of [0, extent) with lo <= start + step * p < hi, as [first, second).
std::pair<int64_t, int64_t> positions_in(const AxisMap& m, int64_t lo, int64_t hi) {
  const int64_t step = m.step > 0 ? m.step : -m.step;
  const int64_t from = m.step > 0 ? lo - m.start : m.start - hi + 1;  // from <= step * p < to
  const int64_t to = m.step > 0 ? hi - m.start : m.start - lo + 1;
  const auto ceil_div = [&](int64_t x) {
    return x <= 0 ? 0 : (x + step - 1) / step;
  };  // p is never negative
  const int64_t first = std::min(ceil_div(from), m.extent);
  return {first, std::clamp(ceil_div(to), first, m.extent)};
}

void compose(AxisInput& s, const AxisMap& m) {
  s.start += s.step * m.start;
  s.step *= m.step;
}
void compose(ChannelMap& c, const AxisMap* axes) {
  if (c.axis < 0) return;
  c.start += c.step * axes[c.axis].start;
  c.step *= axes[c.axis].step;
}
void permute(ChannelMap& c, const int* new_axis) {
  if (c.axis >= 0) c.axis = new_axis[c.axis];
}

void set_identity(AxisInput* axes) {
  for (int a = 0; a < kMaxRank; ++a) axes[a] = {a, 0, 1};
}

Resample without_identities(const Resample& r, const Shape& shape) {
  Resample kept;
  for (int i = 0; i < r.count; ++i)
    if (!is_identity(r.axis[i], shape[r.axis[i].axis])) kept.axis[kept.count++] = r.axis[i];
  return kept;
}

}  // namespace

Pass::Pass(const TensorType& type) : in(type), out(type), viewed(type), resampled(type) {
  set_identity(view);
  set_identity(map);
}

bool Pass::add(const Block& block) {
  const Pass before = *this;
  const TensorType next = after(block, out);
  if (!std::visit([&](auto& kind) { return take(kind, block); }, block.kind)) {
    *this = before;
    return false;
  }
  out = next;
  return true;
}

size_t Pass::add(std::span<const Block> blocks) {
  size_t n = 0;
  while (n < blocks.size() && add(blocks[n])) ++n;
  return n;
}

// A list of one value needs no channel axis. All other lists of a pass must be for the same axis.
bool Pass::channels_of(size_t list_size, const TensorType& type, ChannelMap& channel) {
  if (list_size <= 1) return true;
  channel.axis = type.layout.find('C');
  if (channel.axis < 0 || channel.axis == channel_axis) return true;
  if (channel_axis >= 0) return false;
  channel_axis = channel.axis;
  return true;
}

bool Pass::convert(DType to) {
  const DType from = out.dtype;
  if (from == to) return true;
  if (steps == kMaxSteps) return false;
  step[steps++] = {nullptr, from, to, {}};
  out.dtype = to;
  return true;
}

bool Pass::add_fill(const Small<float>& list, const TensorType& type) {
  if (fills == kMaxFills) return false;
  PassFill& f = fill[fills++];
  f = {&list, type.dtype, steps, {}, Shape::filled(type.shape.rank, 0), type.shape};
  return channels_of(list.size(), type, f.channel);
}

bool Pass::take(const Gather& g, const Block& b) {
  if (!convert(b.result)) return false;
  const TensorType next = after(b, out);
  for (int i = 0; i < fills; ++i)
    for (int a = 0; a < out.shape.rank; ++a)
      std::tie(fill[i].lo[a], fill[i].hi[a]) =
          positions_in(g.axis[a], fill[i].lo[a], fill[i].hi[a]);
  for (int i = 0; i < fills; ++i) compose(fill[i].channel, g.axis);
  compose(warp_fill, g.axis);
  for (int i = steps_before_mix; i < steps; ++i) compose(step[i].channel, g.axis);
  Window inside = Window::all(next.shape);
  for (int a = 0; a < out.shape.rank; ++a) {
    std::tie(inside.begin[a], inside.end[a]) = positions_in(g.axis[a], 0, out.shape[a]);
    compose(map[a], g.axis[a]);
  }
  if (inside == Window::all(next.shape)) return true;
  if (!add_fill(g.fill, next)) return false;
  fill[fills - 1].lo = inside.begin;
  fill[fills - 1].hi = inside.end;
  return true;
}

// What was taken so far becomes the view of a head, with whose result the pass goes on.
void Pass::start_head(const Block& b) {
  std::copy(map, map + kMaxRank, view);
  set_identity(map);
  viewed = out;
  resampled = after(b, out);
}

bool Pass::take(const Resample& r, const Block& b) {
  if (!is_view()) return false;
  const Resample kept = without_identities(r, out.shape);
  if (kept.count == 0) return convert(b.result);
  start_head(b);
  resample = kept;
  if (!is_selection(kept)) return true;
  resampled.dtype = viewed.dtype;
  return convert(b.result);
}

bool Pass::take(const Warp& w, const Block& b) {
  if (!is_view()) return false;
  start_head(b);
  warp = &w;
  return channels_of(w.fill.size(), resampled, warp_fill);
}

bool Pass::take(const Pointwise& p, const Block& b) {
  if (steps == kMaxSteps) return false;
  PassStep& s = step[steps++];
  s = {&p, out.dtype, b.result, {}};
  const auto* longest = std::max({&p.sub, &p.mul, &p.add, &p.div},
                                 [](auto* x, auto* y) { return x->size() < y->size(); });
  return channels_of(longest->size(), out, s.channel);
}

bool Pass::take(const Table& t, const Block& b) {
  if (steps == kMaxSteps) return false;
  PassStep& s = step[steps++];
  s = {nullptr, out.dtype, b.result, {}, t.lists.get()};
  return channels_of(static_cast<size_t>(t.lists->lists), out, s.channel);
}

// Fills before the mixing would have to be mixed as well.
bool Pass::take(const Channels& c, const Block& b) {
  const int axis = out.layout.find('C');
  if (channels || fills || warp_fill.axis >= 0 || (channel_axis >= 0 && channel_axis != axis))
    return false;
  if (warps(map[axis].axis)) return false;
  for (int i = 0; i < resample.count; ++i)
    if (resample.axis[i].axis == map[axis].axis) return false;
  channels = &c;
  channel_axis = axis;
  steps_before_mix = steps;
  mix_from = out.dtype;
  mix_to = b.result;
  mixed = map[axis];
  map[axis] = {mixed.axis, 0, 1};
  return true;
}

bool Pass::take(const Convert&, const Block& b) { return convert(b.result); }

bool Pass::take(const Store& s, const Block& b) {
  if (!convert(b.result)) return false;
  const TensorType next = after(b, out);
  const Pass old = *this;
  int new_axis[kMaxRank];
  for (int a = 0; a < out.shape.rank; ++a) {
    map[a] = old.map[s.perm[a]];
    new_axis[s.perm[a]] = a;
    for (int i = 0; i < fills; ++i) {
      fill[i].lo[a] = old.fill[i].lo[s.perm[a]];
      fill[i].hi[a] = old.fill[i].hi[s.perm[a]];
    }
  }
  for (int i = 0; i < fills; ++i) permute(fill[i].channel, new_axis);
  permute(warp_fill, new_axis);
  for (int i = 0; i < steps; ++i) permute(step[i].channel, new_axis);
  if (channel_axis >= 0) channel_axis = new_axis[channel_axis];
  const int pad = s.pad_axis;
  if (pad < 0 || next.shape[pad] == out.shape[s.perm[pad]]) return true;
  const int64_t data = out.shape[s.perm[pad]];
  if (!add_fill(s.fill, next)) return false;
  fill[fills - 1].hi[pad] = data;
  return true;
}

Pass Pass::before_mix() const {
  Pass p = *this;
  p.channels = nullptr;
  p.steps = steps_before_mix;
  p.fills = p.steps_before_mix = 0;
  p.out.dtype = mix_from;
  p.out.shape[channel_axis] = channels->in;
  p.map[channel_axis] = mixed;
  return p;
}

Pass Pass::after_mix() const {
  Pass p = *this;
  p.channels = nullptr;
  p.steps -= steps_before_mix;
  p.steps_before_mix = 0;
  std::copy(step + steps_before_mix, step + steps, p.step);
  for (int i = 0; i < fills; ++i) p.fill[i].first_step -= steps_before_mix;
  return p;
}

Strided Pass::viewed_in(const View& of) const {
  const Strided memory = Strided::of(of);
  Strided s{memory.data, memory.dtype, memory.offset, Shape::filled(of.shape.rank, 0)};
  for (int a = 0; a < of.shape.rank; ++a) {
    const AxisInput& from = view[a];
    s.offset += from.start * memory.stride[from.axis];
    s.stride[a] = from.step * memory.stride[from.axis];
  }
  return s;
}

bool Pass::warps(int a) const {
  return warp && std::find(warp->axis, warp->axis + warp->count, a) != warp->axis + warp->count;
}

WarpInput Pass::warp_input(const Strided& from) const {
  WarpInput s{warp->border};
  for (int i = 0; i < warp->count; ++i) {
    s.extent[i] = viewed.shape[warp->axis[i]];
    s.stride[i] = from.stride[warp->axis[i]];
  }
  return s;
}

WarpPlaces Pass::warp_places(const Shape& first) const {
  const WarpMap all = warp_map(*warp);
  WarpPlaces p;
  std::copy_n(all.start, Warp::kMost, p.start);
  for (int a = 0; a < first.rank; ++a)
    for (int j = 0; j < warp->count; ++j) {
      if (map[a].axis != warp->axis[j]) continue;
      for (int i = 0; i < warp->count; ++i) {
        p.start[i] += all.step[i][j] * (map[a].start + map[a].step * first[a]);
        p.step[a][i] = all.step[i][j] * map[a].step;
      }
    }
  return p;
}

const int64_t* Pass::nearest(int a, int64_t begin, int64_t count, Arena& arena) const {
  for (int i = 0; i < resample.count; ++i) {
    const ResampleAxis& r = resample.axis[i];
    if (r.axis != map[a].axis) continue;
    auto* positions = arena.array<int64_t>(static_cast<size_t>(count));
    for (int64_t p = 0; p < count; ++p)
      positions[p] =
          tap_interval(r, viewed.shape[r.axis], map[a].start + map[a].step * (begin + p)).begin;
    return positions;
  }
  return nullptr;
}

}  // namespace stoker
