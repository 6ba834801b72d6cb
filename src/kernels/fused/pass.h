// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A line of blocks as one pass over memory: view, resample or warp, gather, steps (with one mixing
// of channels among them), store. A pass takes blocks as long as they compose, and points into
// them. All positions are in full coordinates.
#pragma once
#include "kernels/block.h"
#include "kernels/strided.h"
#include "kernels/warp/warp_map.h"
#include "memory/arena.h"

namespace stoker {

// Output position p of an axis comes from position start + step * p of axis `axis` of the input.
struct AxisInput {
  int axis = 0;
  int64_t start = 0, step = 1;
};

// The entry of a list that has one value per channel: position p of the output's axis `axis` has
// entry start + step * p. Without an axis it is entry 0.
struct ChannelMap {
  int axis = -1;
  int64_t start = 0, step = 1;
};

// Pointwise or Table, or only a change of type where both are null.
struct PassStep {
  const Pointwise* pointwise = nullptr;
  DType from, to;
  ChannelMap channel;
  const TableLists* table = nullptr;
};

// Outside the box [lo, hi) of output positions, the value is `fill`, rounded to `dtype` and put
// through the steps from `first_step` on. Later fills cover earlier ones. What is inside all
// boxes is data.
struct PassFill {
  const Small<float>* fill;
  DType dtype;
  int first_step;
  ChannelMap channel;
  Shape lo, hi;
};

// Where the positions of a pass's output come from along the warped axes: Note [Warps]. Places are
// `start` plus `step` times the distance along each axis of the output. With a perspective, these
// are positions, of which PerspectiveMap makes places.
struct WarpPlaces {
  int64_t start[Warp::kMost] = {}, step[kMaxRank][Warp::kMost] = {};
};

struct Pass {
  static constexpr int kMaxSteps = 16, kMaxFills = 8;

  TensorType in, out;  // full shapes
  AxisInput view[kMaxRank];  // the axes of `viewed`, in terms of `in`
  TensorType viewed;  // the input of the resampling or warping
  Resample resample;  // of `viewed`, without axes that change nothing; count 0: none
  const Warp* warp = nullptr;  // of `viewed`; then nothing is resampled
  ChannelMap warp_fill;
  TensorType resampled;  // or warped
  AxisInput map[kMaxRank];  // the axes of `out`, in terms of `resampled`
  PassStep step[kMaxSteps];
  PassFill fill[kMaxFills];
  int steps = 0, fills = 0;
  // Axis of `out` that lists are for, and `channels`; -1: no list has several entries.
  int channel_axis = -1;
  // If set, channels are mixed after the first `steps_before_mix` steps, from one type to the
  // other. map[channel_axis] and later lists then mean what the mixing makes, and `mixed` are the
  // channels that it reads, in terms of `resampled`.
  const Channels* channels = nullptr;
  int steps_before_mix = 0;
  DType mix_from = DType::kNone, mix_to = DType::kNone;
  AxisInput mixed;

  explicit Pass(const TensorType& in);
  // Returns false and changes nothing when the block does not compose. The first one always does.
  bool add(const Block& block);
  // Takes as many of the blocks as compose, at least one, and returns how many.
  size_t add(std::span<const Block> blocks);

  // The pass up to the mixing of channels, and what follows it. Requires: `channels` is set.
  Pass before_mix() const;
  Pass after_mix() const;

  // The memory of `viewed`, addressed by its positions. Requires: `view` is a view of `in`.
  Strided viewed_in(const View& view) const;
  bool warps(int a) const;
  // Requires: `warp` is set; `viewed` is its memory.
  WarpInput warp_input(const Strided& viewed) const;
  // The places of the output position `first`, and the steps from there.
  WarpPlaces warp_places(const Shape& first) const;
  // The input positions that kNearest picks for `count` positions of output axis a, from `begin`
  // on. Null when it does not resample this axis.
  const int64_t* nearest(int a, int64_t begin, int64_t count, Arena& arena) const;

 private:
  bool take(const Gather& g, const Block& b);
  bool take(const Resample& r, const Block& b);
  bool take(const Pointwise& p, const Block& b);
  bool take(const Convert& c, const Block& b);
  bool take(const Store& s, const Block& b);
  bool take(const Table& t, const Block& b);
  bool take(const Channels& c, const Block& b);
  bool take(const Warp& w, const Block& b);
  bool is_view() const {
    return resample.count == 0 && !warp && steps == 0 && fills == 0 && !channels;
  }
  void start_head(const Block& b);
  bool channels_of(size_t list_size, const TensorType& type, ChannelMap& map);
  bool convert(DType to);
  bool add_fill(const Small<float>& list, const TensorType& type);
};

}  // namespace stoker
