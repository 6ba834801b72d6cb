// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A run of blocks as one pass over memory: view, resample, gather, steps, store. Blocks are added
// as long as they compose. Values that point into the blocks they were made of; thread-safe as
// such. Full coordinates throughout.
#pragma once
#include "kernels/block.h"
#include "kernels/strided.h"
#include "memory/arena.h"

namespace stoker {

// Output position p of an axis comes from position start + step * p of axis `axis` of what is
// mapped.
struct AxisInput {
  int axis = 0;
  int64_t start = 0, step = 1;
};

// Where a list of values per channel stands: output channel p (of axis `axis`) has entry start +
// step * p. No axis: entry 0.
struct ChannelMap {
  int axis = -1;
  int64_t start = 0, step = 1;
};

// Pointwise, or (null) only another type.
struct PassStep {
  const Pointwise* pointwise = nullptr;
  DType from, to;
  ChannelMap channel;
};

// Outside of the box [lo, hi) of output positions the value is `fill`, rounded to `dtype`, then
// steps from `first_step` on. Later ones cover earlier ones. Inside of all boxes is data.
struct PassFill {
  const Small<float>* fill;
  DType dtype;
  int first_step;
  ChannelMap channel;
  Shape lo, hi;
};

struct Pass {
  static constexpr int kMaxSteps = 16, kMaxFills = 8;

  TensorType in, out;  // full shapes
  AxisInput view[kMaxRank];  // axes of what is resampled, from axes of `in`
  TensorType viewed;  // what is resampled
  Resample resample;  // of `viewed`, without identities; count 0: none
  TensorType resampled;
  AxisInput map[kMaxRank];  // axes of `out`, from axes of `resampled`
  PassStep step[kMaxSteps];
  PassFill fill[kMaxFills];
  int steps = 0, fills = 0;
  int channel_axis = -1;  // of `out`, that all lists mean; -1: no list has more than one entry

  explicit Pass(const TensorType& in);
  // False when the block does not compose; the pass is then unchanged. An empty pass takes every
  // block.
  bool add(const Block& block);
  // Takes as many blocks as compose, at least one. Returns how many.
  size_t add(std::span<const Block> blocks);

  // What is resampled (or, without a resampling, what `map` speaks of) as memory in its own
  // positions. Requires: a view of `in`.
  Strided viewed_in(const View& view) const;
  // The input positions that an axis of kNearest picks for `count` positions of output axis a from
  // `begin` on; null when a is no such axis.
  const int64_t* nearest(int a, int64_t begin, int64_t count, Arena& arena) const;

 private:
  bool take(const Gather& g, const Block& b);
  bool take(const Resample& r, const Block& b);
  bool take(const Pointwise& p, const Block& b);
  bool take(const Convert& c, const Block& b);
  bool take(const Store& s, const Block& b);
  bool is_view() const { return resample.count == 0 && steps == 0 && fills == 0; }
  bool channels_of(const Small<float>& list, const TensorType& type, ChannelMap& map);
  bool convert(DType to);
  bool add_fill(const Small<float>& list, const TensorType& type);
};

}  // namespace stoker
