// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/fused_device/batch.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/error.h"
#include "kernels/fused/target.h"
#include "kernels/resample/resample.h"
#include "kernels/resample/taps.h"
#include "kernels/rows/mix.h"

namespace stoker {
namespace {

constexpr int64_t kSharedBudget = 32 << 10;  // so that several blocks fit on one multiprocessor
constexpr int64_t kTileValues = 6144;  // enough for every thread, few enough for many blocks
constexpr int64_t kFewChannels = 16;

FusedArithmetic kind_of(const Pass& pass) {
  if (pass.warp) return FusedArithmetic::kWarp;
  if (pass.resample.count == 0 || is_selection(pass.resample)) return FusedArithmetic::kMove;
  const DType from = pass.viewed.dtype, to = pass.resampled.dtype;
  if (from == DType::kUint8 && to == DType::kUint8) return FusedArithmetic::kFixed;
  return is_wide(from) || is_wide(to) ? FusedArithmetic::kDouble : FusedArithmetic::kFloat;
}

// The axis of the target that comes from axis `a` of the resampling's result.
int target_axis(const Pass& pass, int rank, int a) {
  int t = 0;
  while (t + 1 < rank && pass.map[t].axis != a) ++t;
  return t;
}

// A row has all channels where they are few. Else the channel is the fastest of the axes that
// number rows, as the channels of a pixel read the same memory.
void set_order(FusedTask& t) {
  const int c = t.channel_axis;
  for (int a = 0; a < t.rank; ++a)
    if (a != t.line_axis && a != c) t.order[t.row_axes++] = a;
  t.channels = t.data_channels = 1;
  if (c < 0 || c == t.line_axis) return;
  const bool resampled = t.axis[c].table || std::any_of(t.taps, t.taps + t.tap_count,
                                                        [&](auto& taps) { return taps.axis == c; });
  t.few_channels = t.axis[c].extent <= kFewChannels && !resampled;
  if (!t.few_channels) {
    t.order[t.row_axes++] = c;
    return;
  }
  t.channels = static_cast<int>(t.axis[c].extent);
  t.data_channels = static_cast<int>(t.axis[c].hi - t.axis[c].lo);
}

// Finds whether the values of a row are neighbours in memory, pixel by pixel or channel by channel.
void set_runs(FusedTask& t) {
  const FusedAxis &x = t.axis[t.line_axis], none{},
                  &c = t.few_channels ? t.axis[t.channel_axis] : none;
  const int64_t in = t.tap_count ? t.taps[t.tap_count - 1].in_stride : std::abs(x.in_stride);
  t.in_pixels = c.in_stride == t.in_size && in == t.in_size * t.data_channels;
  t.in_runs = !t.warp && x.table == 0 && (t.in_pixels || in == t.in_size);
  t.out_pixels = c.out_stride == t.out_size && x.out_stride == t.out_size * t.channels;
  t.out_runs = t.out_pixels || x.out_stride == t.out_size;
}

bool held_as_float(DType t) { return is_narrow(t) && t != DType::kBool; }

// Whether several rows can be made at once, which needs the same steps.
bool can_make_rows(const FusedTask& t, std::span<const ValueStep> steps) {
  if (steps.empty() && t.kind == FusedArithmetic::kMove) return true;
  const bool same = t.channel_axis < 0 || t.channel_axis == t.line_axis || t.few_channels;
  return t.kind != FusedArithmetic::kDouble && held_as_float(t.in_type) &&
         held_as_float(t.resampled) && (same || steps.empty()) &&
         std::all_of(steps.begin(), steps.end(), [](auto& s) { return held_as_float(s.to); });
}

void set_span(FusedTask& t, const View& in) {
  t.in_begin = t.in_end = static_cast<int64_t>(reinterpret_cast<intptr_t>(in.data));
  for (int a = 0; a < in.shape.rank; ++a) {
    const int64_t last = (in.shape[a] - 1) * in.strides[a];
    (last < 0 ? t.in_begin : t.in_end) += last;
  }
  t.in_end += size_of(in.dtype);
}

TapInterval input_range(const FusedTask& t, const std::byte* tables, int64_t begin, int64_t end) {
  const FusedTaps& taps = t.taps[t.tap_count - 1];
  const int64_t lo = t.axis[t.line_axis].lo;
  TapInterval r{INT64_MAX, 0};
  for (int64_t x = std::max(begin, lo); x < std::min(end, t.axis[t.line_axis].hi); ++x) {
    const int64_t first = fused::at<int32_t>(tables, taps.first)[x - lo];
    r.begin = std::min(r.begin, first);
    r.end = std::max(r.end, first + fused::at<int32_t>(tables, taps.taps)[x - lo]);
  }
  return r.begin < r.end ? r : TapInterval{0, 0};
}

}  // namespace

int64_t FusedBatch::put(const void* bytes, size_t size) {
  const size_t at = tables_.empty() ? 16 : (tables_.size() + 15) / 16 * 16;  // offset 0 means none
  tables_.resize(at + size);
  if (size) std::memcpy(tables_.data() + at, bytes, size);
  return static_cast<int64_t>(at);
}

void FusedBatch::add(std::span<const Block> blocks, const View& in, const View& out) {
  for (const Block& b : blocks)
    if (auto* t = std::get_if<Table>(&b.kind)) owners_.push_back(t->lists);
  View from = in;
  bool in_scratch = false;
  for (size_t stage = 0;; ++stage) {
    if (stage == work_.size()) work_.emplace_back();
    Pass pass(from.whole());
    blocks = blocks.subspan(pass.add(blocks));
    if (blocks.empty()) {
      if (pass.out.dtype != out.dtype || !(pass.out.shape == out.full))
        throw Error("the blocks make " + pass.out.str() + ", the output is " + out.whole().str());
      add_pass(stage, pass, from, in_scratch, out, false);
      break;
    }
    View to = View::window(nullptr, pass.out.dtype, demand(blocks, pass.out, out.covers()),
                           pass.out.shape, pass.out.layout);
    to.data = reinterpret_cast<void*>(scratch_);
    scratch_ += (static_cast<size_t>(to.bytes()) + 255) / 256 * 256;
    add_pass(stage, pass, from, in_scratch, to, true);
    from = to;
    in_scratch = true;
  }
  arena_.reset();
}

void FusedBatch::add_pass(size_t stage, const Pass& pass, const View& in, bool in_scratch,
                          const View& out, bool out_scratch) {
  if (out.shape.volume() == 0) return;  // an empty window has no tiles
  const Target target(pass.channels ? pass.after_mix() : pass, out, arena_);
  const Strided from = pass.viewed_in(in);
  FusedTask t{};
  t.in = {static_cast<int64_t>(reinterpret_cast<intptr_t>(from.data)) + from.offset, in_scratch};
  t.out = {static_cast<int64_t>(reinterpret_cast<intptr_t>(out.data)), out_scratch};
  t.kind = kind_of(pass);
  set_span(t, in);
  t.in_type = in.dtype;
  t.resampled = pass.resampled.dtype;
  t.out_type = out.dtype;
  t.in_size = size_of(in.dtype);
  t.out_size = size_of(out.dtype);
  t.rank = target.rank();
  t.channel_axis = target.c.axis;
  t.tap_count = t.kind == FusedArithmetic::kMove || !target.has_data() ? 0 : pass.resample.count;
  if (t.kind == FusedArithmetic::kWarp && target.has_data()) set_warp(t, pass, from, out, target);
  t.line_axis = t.tap_count ? target_axis(pass, t.rank, pass.resample.axis[t.tap_count - 1].axis)
                            : std::max(target.x.axis, 0);
  set_axes(t, pass, from, out, target);
  if (t.kind == FusedArithmetic::kFixed) set_taps<int16_t>(t, pass, from, out, target);
  if (t.kind == FusedArithmetic::kFloat) set_taps<float>(t, pass, from, out, target);
  if (t.kind == FusedArithmetic::kDouble) set_taps<double>(t, pass, from, out, target);
  set_order(t);
  if (pass.channels) t.data_channels = pass.channels->in;
  set_runs(t);
  if (pass.channels && target.has_data()) set_mix(t, pass, out, target);
  set_values(t, target);
  work_[stage].tasks.push_back(t);
  add_tiles(stage, t);
}

void FusedBatch::set_axes(FusedTask& t, const Pass& pass, const Strided& in, const View& out,
                          const Target& target) {
  for (int a = 0; a < t.rank; ++a) {
    const TargetAxis& x = target.axis(a);
    const AxisInput& map = pass.map[a];
    const int64_t stride = in.stride[map.axis];
    t.axis[a] = {x.extent, x.lo, x.hi, x.stride, 0, 0};
    if (!target.has_data()) continue;
    const bool resampled = std::any_of(pass.resample.axis, pass.resample.axis + pass.resample.count,
                                       [&](auto& r) { return r.axis == map.axis; });
    if (pass.warps(map.axis) || (resampled && t.kind != FusedArithmetic::kMove)) continue;
    if (pass.channels && a == t.channel_axis) {  // all channels that are mixed
      const int64_t channel = in.stride[pass.mixed.axis];
      t.axis[a].in_stride = channel * pass.mixed.step;
      t.in.address += channel * pass.mixed.start;
      continue;
    }
    t.axis[a].in_stride = resampled ? stride : stride * map.step;
    if (resampled)
      t.axis[a].table = put(pass.nearest(a, out.origin[a] + x.lo, x.data(), arena_),
                            static_cast<size_t>(x.data()) * sizeof(int64_t));
    else t.in.address += stride * (map.start + map.step * (out.origin[a] + x.lo));
  }
  if (t.rank == 0) {  // a single value is a line of one value
    t.rank = 1;
    t.axis[0] = {1, 0, 1, 0, 0, 0};
  }
  if (pass.channels && t.line_axis == t.channel_axis) {  // a single pixel is a line of one
    t.line_axis = t.rank++;
    t.axis[t.line_axis] = {1, 0, 1, 0, 0, 0};
  }
}

void FusedBatch::set_warp(FusedTask& t, const Pass& pass, const Strided& in, const View& out,
                          const Target& target) {
  Shape first = out.origin;
  for (int a = 0; a < target.rank(); ++a) first[a] += target.axis(a).lo;
  const FusedWarp w{pass.warp_input(in),
                    pass.warp_places(first),
                    pass.warp->filter,
                    put(target.warp_fill(), static_cast<size_t>(8 * target.c.extent)),
                    pass.warp_fill.axis < 0 ? 0 : 8,
                    PerspectiveMap(*pass.warp)};
  t.warp = put(&w, sizeof w);
}

template <class W>
void FusedBatch::set_taps(FusedTask& t, const Pass& pass, const Strided& in, const View& out,
                          const Target& target) {
  for (int i = 0; i < t.tap_count; ++i) {
    const ResampleAxis& r = pass.resample.axis[i];
    const int a = target_axis(pass, t.rank, r.axis);
    const TargetAxis& x = target.axis(a);
    const AxisInput& map = pass.map[a];
    const auto table =
        tap_table<W>(r, pass.viewed.shape[r.axis], map.start + map.step * (out.origin[a] + x.lo),
                     map.step, x.data(), arena_);
    const auto n = static_cast<size_t>(x.data());
    t.taps[i] = {a,
                 in.stride[r.axis],
                 put(table.first, n * sizeof(int32_t)),
                 put(table.taps, n * sizeof(int32_t)),
                 put(table.weights, n * static_cast<size_t>(table.pitch) * sizeof(W)),
                 table.pitch};
  }
}

// Samples that share lists share them here, too.
int64_t FusedBatch::put_steps(const Target& target) {
  const auto first = target.steps(0);
  std::vector<ValueStep> steps(first.data(),
                               first.data() + target.c.extent * static_cast<int64_t>(first.size()));
  for (ValueStep& s : steps) {
    if (!s.list) continue;
    const auto [known, is_new] = lists_.try_emplace(s.list);
    if (is_new) known->second = put(s.list, static_cast<size_t>((s.entries + 1) * size_of(s.to)));
    s.list = reinterpret_cast<const std::byte*>(known->second);
  }
  return put(steps.data(), steps.size() * sizeof(ValueStep));
}

// The steps before the mixing are those of a target of its own, which is all channels of one pixel.
void FusedBatch::set_mix(FusedTask& t, const Pass& pass, const View& out, const Target& target) {
  const Pass before = pass.before_mix();
  View pixel = out;
  pixel.dtype = pass.mix_from;
  for (int a = 0; a < out.shape.rank; ++a) pixel.shape[a] = 1;
  pixel.origin[target.c.axis] = 0;
  pixel.shape[target.c.axis] = pass.channels->in;
  t.steps_before_mix = before.steps;
  t.step_before_mix = put_steps(Target(before, pixel, arena_));
  const AxisInput& map = pass.map[target.c.axis];
  ChannelMix mix = channel_mix(*pass.channels, pass.mix_from, pass.mix_to);
  mix.choose(map.start + map.step * (out.origin[target.c.axis] + target.c.lo), map.step,
             target.c.data());
  t.mix = put(&mix, sizeof mix);
}

void FusedBatch::set_values(FusedTask& t, const Target& target) {
  t.steps = static_cast<int>(target.steps(0).size());
  const auto channels = static_cast<size_t>(target.c.extent);
  t.makes_rows = !t.mix && can_make_rows(t, target.steps(0));
  t.step = put_steps(target);
  for (const TargetFill& f : target.fills()) {
    FusedFill& to = t.fill[t.fills++];
    for (int a = 0; a < target.rank(); ++a) {
      to.lo[a] = f.lo[a];
      to.hi[a] = f.hi[a];
    }
    for (int a = target.rank(); a < t.rank; ++a) to.hi[a] = 1;
    to.values = put(f.values, 8 * channels);
  }
}

// A tile of one row. `width` is cut at kSharedBudget, beyond which there is no room in any case.
FusedTile FusedBatch::tile_of(const FusedTask& t, int64_t begin, int64_t end) const {
  const FusedAxis& x = t.axis[t.line_axis];
  TapInterval r{0, 0};
  if (t.tap_count) r = input_range(t, tables_.data(), begin, end);
  else if (t.in_runs) r = {std::max(begin, x.lo) - x.lo, std::min(end, x.hi) - x.lo};
  const int64_t width =
      t.data_channels > 0 ? std::clamp<int64_t>(r.end - r.begin, 0, kSharedBudget) : 0;
  return {0, r.begin, begin, end, 0, 1, static_cast<int>(width)};
}

// Cuts the line until the rows made at once have room in a tile. A single value that has none does
// without shared memory.
void FusedBatch::add_tiles(size_t stage, const FusedTask& t) {
  const int64_t extent = t.axis[t.line_axis].extent;
  int64_t rows = 1;
  for (int k = 0; k < t.row_axes; ++k) rows *= t.axis[t.order[k]].extent;
  if (rows > UINT32_MAX)
    throw Error("a device takes samples of up to 2^32 - 1 rows, not of " + std::to_string(rows));
  const int64_t at_once = std::min<int64_t>(rows, FusedProgram::kRowsAtOnce);
  const auto has_room = [&](int64_t begin, int64_t end) {
    return (end - begin) * t.channels * at_once <= kTileValues &&
           SharedLayout(t, tile_of(t, begin, end)).row() * at_once <= kSharedBudget;
  };
  int64_t piece = extent;
  for (int64_t x = 0; x < extent && piece > 1; x += piece)
    if (!has_room(x, std::min(x + piece, extent))) piece = (piece + 1) / 2, x = -piece;
  for (int64_t x = 0; x < extent; x += piece)
    add_rows(stage, t, rows, tile_of(t, x, std::min(x + piece, extent)));
}

void FusedBatch::add_rows(size_t stage, const FusedTask& t, int64_t rows, FusedTile tile) {
  if (SharedLayout(t, tile).row() > kSharedBudget) tile.width = 0;
  const int64_t values = (tile.end - tile.begin) * t.channels;
  int64_t count = std::min(kTileValues / values, kSharedBudget / SharedLayout(t, tile).row());
  if (count > FusedProgram::kRowsAtOnce) count -= count % FusedProgram::kRowsAtOnce;
  tile.task = static_cast<int64_t>(work_[stage].tasks.size()) - 1;
  for (int64_t first = 0; first < rows; first += count) {
    tile.first = static_cast<uint32_t>(first);
    tile.rows = static_cast<int>(std::min(count, rows - first));
    work_[stage].tiles.push_back(tile);
  }
}

void FusedBatch::finish() {
  for (StageTables& w : work_) {
    w.tasks_at = put(w.tasks.data(), w.tasks.size() * sizeof(FusedTask));
    w.tiles_at = put(w.tiles.data(), w.tiles.size() * sizeof(FusedTile));
    Stage s;
    s.blocks = static_cast<int64_t>(w.tiles.size());
    for (const FusedTile& t : w.tiles) {
      const int row = SharedLayout(w.tasks[static_cast<size_t>(t.task)], t).row();
      s.shared_bytes = std::max(s.shared_bytes, static_cast<size_t>(t.rows * row));
    }
    stages_.push_back(s);
  }
}

FusedProgram FusedBatch::program(size_t stage, const std::byte* tables, std::byte* scratch) const {
  return {tables, work_[stage].tasks_at, work_[stage].tiles_at, scratch};
}

}  // namespace stoker
