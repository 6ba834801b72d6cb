// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/block.h"

#include <algorithm>

#include "kernels/resample/taps.h"

namespace stoker {
namespace {

void reshape(const Gather& g, const TensorType&, TensorType& out) {
  for (int a = 0; a < out.shape.rank; ++a) out.shape[a] = g.axis[a].extent;
}
void reshape(const Resample& r, const TensorType&, TensorType& out) {
  for (int i = 0; i < r.count; ++i) out.shape[r.axis[i].axis] = r.axis[i].out;
}
void reshape(const Store& s, const TensorType& in, TensorType& out) {
  for (int a = 0; a < out.shape.rank; ++a) out.shape[a] = in.shape[s.perm[a]];
  for (int a = 0; a < in.layout.rank() && a < out.shape.rank; ++a)
    out.layout.letters[a] = in.layout.letters[s.perm[a]];
  if (!s.layout.empty()) out.layout = s.layout;
  if (s.pad_axis >= 0) out.shape[s.pad_axis] = std::max(s.pad_to, out.shape[s.pad_axis]);
}
void reshape(const Pointwise&, const TensorType&, TensorType&) {}
void reshape(const Convert&, const TensorType&, TensorType&) {}

// Makes `need` along `axis` the part of [first, last] that lies in the input or, where none does,
// the nearest position of the input, if there is any.
void need_between(int64_t first, int64_t last, int64_t extent, Window& need, int axis) {
  if (first > last) std::swap(first, last);
  const int64_t end = std::max<int64_t>(extent - 1, 0);
  need.begin[axis] = std::clamp<int64_t>(first, 0, end);
  need.end[axis] = std::min(std::clamp<int64_t>(last, 0, end) + 1, extent);
}

Window need(const Gather& g, const TensorType& in, const Window& wanted) {
  Window w = wanted;
  for (int a = 0; a < in.shape.rank; ++a) {
    const AxisMap& m = g.axis[a];
    need_between(m.start + m.step * wanted.begin[a], m.start + m.step * (wanted.end[a] - 1),
                 in.shape[a], w, a);
  }
  return w;
}
Window need(const Resample& r, const TensorType& in, const Window& wanted) {
  Window w = wanted;
  for (int i = 0; i < r.count; ++i) {
    const ResampleAxis& x = r.axis[i];
    const int64_t extent = in.shape[x.axis];
    const TapRange first = tap_range(x, extent, wanted.begin[x.axis]);
    const TapRange last = tap_range(x, extent, wanted.end[x.axis] - 1);
    w.begin[x.axis] = std::min(first.begin, last.begin);
    w.end[x.axis] = std::max(first.end, last.end);
  }
  return w;
}
Window need(const Store& s, const TensorType& in, const Window& wanted) {
  Window w = wanted;
  for (int a = 0; a < in.shape.rank; ++a)
    need_between(wanted.begin[a], wanted.end[a] - 1, in.shape[s.perm[a]], w, s.perm[a]);
  return w;
}
Window need(const Pointwise&, const TensorType&, const Window& wanted) { return wanted; }
Window need(const Convert&, const TensorType&, const Window& wanted) { return wanted; }

}  // namespace

TensorType after(const Block& block, const TensorType& in) {
  TensorType out = in;
  out.dtype = block.result;
  std::visit([&](auto& kind) { reshape(kind, in, out); }, block.kind);
  return out;
}

TensorType after(std::span<const Block> blocks, TensorType in) {
  for (const Block& b : blocks) in = after(b, in);
  return in;
}

bool is_identity(const Block& block, const TensorType& in) {
  const Gather* gather = std::get_if<Gather>(&block.kind);
  const Gather identity = Gather::identity(in.shape);
  return gather && block.result == in.dtype &&
         std::equal(gather->axis, gather->axis + in.shape.rank, identity.axis);
}

Window demand(std::span<const Block> blocks, const TensorType& in, const Window& wanted) {
  if (blocks.empty()) return wanted;
  const Window w = demand(blocks.subspan(1), after(blocks[0], in), wanted);
  return std::visit([&](auto& kind) { return need(kind, in, w); }, blocks[0].kind);
}

}  // namespace stoker
