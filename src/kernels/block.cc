// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/block.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/convert.h"
#include "kernels/resample/taps.h"
#include "kernels/warp/warp_map.h"

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
void reshape(const Table&, const TensorType&, TensorType&) {}
void reshape(const Channels& c, const TensorType& in, TensorType& out) {
  out.shape[in.layout.find('C')] = c.out;
}
void reshape(const Warp& w, const TensorType&, TensorType& out) {
  for (int i = 0; i < w.count; ++i) out.shape[w.axis[i]] = w.out[i];
}

// Makes `need` along `axis` the part of [first, last] that lies in the input or, if that is empty,
// the nearest position of the input, if there is one.
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
    const TapInterval first = tap_interval(x, extent, wanted.begin[x.axis]);
    const TapInterval last = tap_interval(x, extent, wanted.end[x.axis] - 1);
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
Window need(const Table&, const TensorType&, const Window& wanted) { return wanted; }
Window need(const Channels&, const TensorType& in, const Window& wanted) {
  Window w = wanted;
  const int c = in.layout.find('C');
  w.begin[c] = 0;
  w.end[c] = wanted.begin[c] < wanted.end[c] ? in.shape[c] : 0;
  return w;
}

// What places with the whole parts [first, last] need along an axis.
void need_shown(const Warp& w, int64_t first, int64_t last, int64_t extent, Window& made,
                int axis) {
  first -= w.filter == Filter::kCubic;
  last += w.filter == Filter::kCubic ? 2 : w.is_between();
  const bool folds = w.border != Border::kConstant && w.border != Border::kClamp;
  if (folds && (first < 0 || last >= extent)) first = 0, last = extent - 1;
  need_between(first, last, extent, made, axis);
}

// What lies in a box of the output shows in the hull of what its corners show, unless the horizon
// goes through the box or comes close to it: then all may show.
Window need_of_perspective(const Warp& w, const TensorType& in, const Window& wanted) {
  const PerspectiveMap map(w);
  double most[Warp::kMost] = {}, lo[Warp::kMost], hi[Warp::kMost];
  double least_divisor = std::numeric_limits<double>::infinity(), most_divisor = -least_divisor;
  std::fill_n(lo, w.count, least_divisor);
  std::fill_n(hi, w.count, most_divisor);
  for (int corner = 0; corner < 1 << w.count; ++corner) {
    double centre[Warp::kMost] = {};
    for (int j = 0; j < w.count; ++j) {
      const int64_t first = wanted.begin[w.axis[j]], last = wanted.end[w.axis[j]] - 1;
      centre[j] = static_cast<double>(corner >> j & 1 ? last : first) + 0.5;
      most[j] = std::max(most[j], std::fabs(centre[j]));
    }
    const double divisor = map.sum<Warp::kMost>(Warp::kMost, centre);
    least_divisor = std::min(least_divisor, divisor);
    most_divisor = std::max(most_divisor, divisor);
    for (int i = 0; i < w.count; ++i) {
      const double place = map.sum<Warp::kMost>(i, centre) / divisor - (w.is_between() ? 0.5 : 0);
      lo[i] = std::min(lo[i], place);
      hi[i] = std::max(hi[i], place);
    }
  }
  const bool has_horizon = !(least_divisor > 0 || most_divisor < 0);
  const double least = std::min(std::fabs(least_divisor), std::fabs(most_divisor));
  Window made = wanted;
  for (int i = 0; i < w.count; ++i) {
    const int64_t extent = in.shape[w.axis[i]];
    int64_t first = 0, last = extent - 1;
    if (!has_horizon && perspective_error(map, i, extent, most, least) < 0.5) {
      const auto end = static_cast<double>(extent);
      first = static_cast<int64_t>(std::floor(std::clamp(lo[i], -2.0, end))) - 1;
      last = static_cast<int64_t>(std::floor(std::clamp(hi[i], -2.0, end))) + 1;
    }
    need_shown(w, first, last, extent, made, w.axis[i]);
  }
  return made;
}

Window need(const Warp& w, const TensorType& in, const Window& wanted) {
  if (w.has_perspective()) return need_of_perspective(w, in, wanted);
  const WarpMap map = warp_map(w);
  Window made = wanted;
  for (int i = 0; i < w.count; ++i) {
    int64_t least = map.start[i], most = map.start[i];
    for (int j = 0; j < w.count; ++j) {
      const int64_t first = map.step[i][j] * wanted.begin[w.axis[j]];
      const int64_t last = map.step[i][j] * (wanted.end[w.axis[j]] - 1);
      least += std::min(first, last);
      most += std::max(first, last);
    }
    need_shown(w, whole_part(least), whole_part(most), in.shape[w.axis[i]], made, w.axis[i]);
  }
  return made;
}

}  // namespace

std::shared_ptr<const TableLists> table_lists(std::span<const float> values, int64_t lists,
                                              float fallback, DType dtype) {
  const int64_t given = static_cast<int64_t>(values.size()) / lists;
  const int64_t entries = std::max<int64_t>(given, 256);
  TableLists made{dtype, lists, entries, {}};
  made.bytes.resize(static_cast<size_t>(lists * made.pitch()));
  for (int64_t i = 0; i < lists; ++i) {
    std::byte* list = made.bytes.data() + i * made.pitch();
    const int64_t size = size_of(dtype);
    convert_row(values.data() + i * given, DType::kFloat32, list, dtype, given);
    convert_row(&fallback, DType::kFloat32, 0, list + given * size, dtype, size,
                entries + 1 - given);
  }
  return std::make_shared<const TableLists>(std::move(made));
}

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
