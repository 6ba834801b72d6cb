// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The phases of FusedProgram: find rows, load, make, store. See Note [Tiles] of program.h.
#pragma once
#include <new>

#include "kernels/fused_device/row.h"
#include "kernels/rows/mix.h"
#include "kernels/rows/rows.h"
#include "kernels/warp/place_filter.h"

namespace stoker {
namespace fused {

constexpr int kRowsAtOnce = FusedProgram::kRowsAtOnce;

// Deals threads over `n` places. This one takes every team_size-th place from `first` on. It
// belongs to team `team` of `teams`, over which callers deal further work.
struct Deal {
  int first, team_size, team, teams;
  STOKER_HD Deal(int thread, int threads, int n)
      : team_size(threads < n ? threads : n), team(thread / team_size), teams(threads / team_size) {
    first = thread - team * team_size;
  }
  STOKER_HD bool idle() const { return team >= teams; }
};

STOKER_HD inline DeviceValue rounded(int32_t s, DType) {
  DeviceValue v;
  v.type = DType::kUint8;
  v.u = 0;
  v.f = fixed_result(s);
  return v;
}
STOKER_HD inline DeviceValue rounded(float s, DType t) { return value_of(s, t); }
STOKER_HD inline DeviceValue rounded(double s, DType t) { return value_of(s, t); }

// The place of number k in the list of a step. Numbers without an entry have the last place.
STOKER_HD inline const std::byte* entry_of(const std::byte* tables, const ValueStep& s, uint64_t k,
                                           int size) {
  const auto entries = static_cast<uint64_t>(s.entries);
  const int64_t list = static_cast<int64_t>(reinterpret_cast<intptr_t>(s.list));
  return in_global(tables + list + (k < entries ? k : entries) * static_cast<uint64_t>(size));
}

STOKER_HD inline DeviceValue stepped(const std::byte* tables, DeviceValue v, const ValueStep& s) {
  if (s.list) {
    const auto number = static_cast<uint64_t>(number_of<int64_t>(v));
    return load_value(entry_of(tables, s, number, value_size(s.to)), s.to);
  }
  if (!s.pointwise) return convert_value(v, s.to);
  if (is_narrow(s.from) && is_narrow(s.to)) {
    return value_of(pointwise<float>(number_of<float>(v), s.sub, s.mul, s.add, s.div), s.to);
  }
  return value_of(pointwise<double>(number_of<double>(v), s.sub, s.mul, s.add, s.div), s.to);
}

// Calls f with a value of the C++ type of `t`. Requires: is_narrow(t), and t is not kBool.
template <class F>
STOKER_HD inline void on_narrow_type(DType t, F&& f) {
  switch (t) {
    case DType::kUint8: return f(uint8_t{});
    case DType::kInt8: return f(int8_t{});
    case DType::kUint16: return f(uint16_t{});
    case DType::kInt16: return f(int16_t{});
    case DType::kFloat16: return f(Half{});
    default: return f(float{});
  }
}

template <class T>
STOKER_HD inline float narrow_value(T v) {
  if constexpr (std::is_same_v<T, Half>) return to_float(v);
  else return static_cast<float>(v);
}
STOKER_HD inline void round_narrow(float (&v)[kRowsAtOnce], DType t) {
  on_narrow_type(t, [&](auto zero) {
    for (float& x : v) x = narrow_value(convert<decltype(zero)>(x));
  });
}

// Values of several rows. Passed by value, so that calls leave them in registers.
struct RowValues {
  float v[kRowsAtOnce];
};
// Not inlined, so that rare code leaves registers to the rest.
[[gnu::noinline]] STOKER_HD inline RowValues looked_up(const std::byte* tables,
                                                       const ValueStep* step, RowValues g) {
  const ValueStep s = *step;
  on_narrow_type(s.to, [&](auto zero) {
    using T = decltype(zero);
    for (float& x : g.v) {
      const auto number = static_cast<uint64_t>(static_cast<int32_t>(x));
      x = narrow_value(load_aligned<T>(entry_of(tables, s, number, sizeof(T))));
    }
  });
  return g;
}

STOKER_HD constexpr bool is_loaded_wide(DType t) {
  return t == DType::kUint8 || t == DType::kFloat16 || t == DType::kFloat32;
}

struct TileThread {
  const FusedProgram& program;
  int64_t block;
  const FusedTask& task;
  const FusedTile& tile;
  SharedLayout layout;
  int thread, threads;
  std::byte *in, *out, *rows;  // the parts of shared memory
  int64_t line_row, line_rows;  // the line's data position at x 0, and how many there are
  int channel_lo = 0, channel_hi;  // the range of channels with data

  STOKER_HD TileThread(const FusedProgram& p, int64_t block, int thread, int threads,
                       std::byte* shared)
      : program(p),
        block(block),
        task(at<FusedTask>(p.tables, p.tasks)[at<FusedTile>(p.tables, p.tiles)[block].task]),
        tile(at<FusedTile>(p.tables, p.tiles)[block]),
        layout(task, tile),
        thread(thread),
        threads(threads),
        in(shared),
        out(in + tile.rows * layout.in_row),
        rows(out + tile.rows * layout.out_row) {
    const FusedAxis& line = task.axis[task.line_axis];
    line_row = tile.begin - line.lo;
    line_rows = line.hi - line.lo;
    channel_hi = task.channels;
    if (task.few_channels) {
      channel_lo = static_cast<int>(task.axis[task.channel_axis].lo);
      channel_hi = static_cast<int>(task.axis[task.channel_axis].hi);
    }
  }

  STOKER_HD int values() const { return static_cast<int>(tile.end - tile.begin); }  // of one line
  // Not inlined, so that rare code costs the rest no registers.
  template <void (TileThread::*part)() const>
  STOKER_HD void call() const {
    called<part>(program, block, thread, threads, in);
  }
  template <void (TileThread::*part)() const>
  [[gnu::noinline]] STOKER_HD static void called(FusedProgram program, int64_t block, int thread,
                                                 int threads, std::byte* shared) {
    (TileThread(program, block, thread, threads, in_shared(shared)).*part)();
  }

  STOKER_HD std::byte* row_address(int r) const { return rows + r * SharedLayout::kRowAddress; }
  STOKER_HD Row row(int r) const {
    return Row(*reinterpret_cast<const RowAddress*>(row_address(r)), program, task);
  }
  STOKER_HD const FusedTaps& line_taps() const { return task.taps[task.tap_count - 1]; }
  STOKER_HD int64_t channel_stride() const {
    return task.few_channels ? task.axis[task.channel_axis].in_stride : 0;
  }

  STOKER_HD void find_rows() const {
    static_assert(sizeof(RowAddress) <= SharedLayout::kRowAddress);
    for (int r = thread; r < tile.rows; r += threads)
      new (row_address(r))
          RowAddress(program, task, tile.first + static_cast<uint32_t>(r), layout.in_value);
  }

  STOKER_HD void load() const {
    if (tile.width == 0) return;
    const std::byte* begin = address_of(program, task.in, task.in_begin);
    const std::byte* end = address_of(program, task.in, task.in_end);
    if (task.kind == FusedArithmetic::kMove)
      return load_runs<uint64_t>(EightBytes<uint64_t, uint64_t>{begin, end});
    if (task.kind == FusedArithmetic::kFixed && task.in_runs)
      return load_runs<int16_t>(FixedBytes{begin, end});
    if (task.kind == FusedArithmetic::kFloat && task.in_runs && is_loaded_wide(task.in_type))
      return call<&TileThread::load_float>();
    call<&TileThread::load_each>();
  }
  STOKER_HD void load_float() const {
    const std::byte* begin = address_of(program, task.in, task.in_begin);
    const std::byte* end = address_of(program, task.in, task.in_end);
    if (task.in_type == DType::kUint8)
      return load_runs<float>(EightBytes<float, uint8_t>{begin, end});
    if (task.in_type == DType::kFloat16)
      return load_runs<float>(EightBytes<float, Half>{begin, end});
    load_runs<float>(EightBytes<float, float>{begin, end});
  }
  // Loads all other types and layouts.
  STOKER_HD void load_each() const {
    if (task.kind == FusedArithmetic::kFixed) load_runs<int16_t>(OneValue<int16_t>{task.in_type});
    else if (task.kind == FusedArithmetic::kFloat) load_runs<float>(OneValue<float>{task.in_type});
    else load_runs<double>(OneValue<double>{task.in_type});
  }

  template <class V, class Load>
  STOKER_HD void load_runs(const Load& load) const {
    constexpr int kCount = Load::kCount, kBytes = kCount * sizeof(V);
    const bool moves = task.kind == FusedArithmetic::kMove;
    const int64_t stride = moves ? task.axis[task.line_axis].in_stride : line_taps().in_stride;
    const int64_t first = stride * (tile.need + (moves && stride < 0 ? tile.width - 1 : 0));
    const int64_t step = moves ? 8 : task.in_runs ? kCount * task.in_size : stride;
    const Deal deal(thread, threads, (layout.in_run + kBytes - 1) / kBytes);
    if (deal.idle()) return;
    const int64_t channel_stride = this->channel_stride();
    for (int c = 0; c < (task.in_pixels ? 1 : task.data_channels); ++c)
      for (int r = deal.team; r < tile.rows; r += deal.teams) {
        const Row row = this->row(r);
        if (!row.data) continue;
        const std::byte* from = row.in + c * channel_stride + first;
        std::byte* to = in + r * layout.in_row + c * layout.in_channel;
        for (int k = deal.first; k * kBytes < layout.in_run; k += deal.team_size) {
          V v[kCount];
          if constexpr (std::is_same_v<V, uint64_t>) row.sum_axes<0>(from + k * step, load, v);
          else if constexpr (kCount == 1) v[0] = row.one_across<V>(from + k * step);
          else row.across(from + k * step, load, v);
          store_row(to + k * kBytes, v);
        }
      }
  }

  STOKER_HD void make() const {
    if (task.makes_rows && tile.width)
      for_each_rows([&](int x, int c, int r) {
        if (is_data(x, c)) make_rows(x, c, r);
      });
    else call<&TileThread::make_each>();
    if (task.fills) call<&TileThread::fill>();
  }

  // Calls f(x, c, r) for each place x, c of a row and the first row r of each kRowsAtOnce.
  template <class F>
  STOKER_HD void for_each_rows(const F& f) const {
    const Deal channels(thread, threads, task.channels);
    if (channels.idle()) return;
    const Deal line(channels.team, channels.teams, values());
    if (line.idle()) return;
    for (int c = channels.first; c < task.channels; c += channels.team_size)
      for (int x = line.first; x < values(); x += line.team_size)
        for (int r = kRowsAtOnce * line.team; r < tile.rows; r += kRowsAtOnce * line.teams)
          f(x, c, r);
  }
  // Calls f(row, r, x, c) for each value.
  template <class F>
  STOKER_HD void for_each_value(const F& f) const {
    for_each_rows([&](int x, int c, int r) {
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
      for (int k = r; k < r + kRowsAtOnce && k < tile.rows; ++k) f(row(k), k, x, c);
    });
  }

  // Whether x, c is data, as far as the line and the channel decide.
  STOKER_HD bool is_data(int x, int c) const {
    const int64_t row = line_row + x;
    return row >= 0 && row < line_rows && c >= channel_lo && c < channel_hi;
  }
  STOKER_HD std::byte* output_address(int x, int c, int r) const {
    return out + r * layout.out_row + c * layout.out_channel + x * layout.out_x;
  }

  // Makes the data at x, c of kRowsAtOnce rows, the first of which is r.
  STOKER_HD void make_rows(int x, int c, int r) const {
    if (task.kind == FusedArithmetic::kMove && task.steps == 0) return copy(x, c, r);
    float v[kRowsAtOnce] = {};
    if (task.kind == FusedArithmetic::kMove) move(v, x, c, r);
    else if (task.kind == FusedArithmetic::kFixed) sum_fixed(v, x, c, r);
    else sum_float(v, x, c, r);
    finish(v, x, c, r);
  }

  // Where the value for x, c of row r was loaded to.
  STOKER_HD const std::byte* moved(int x, int c, int r) const {
    const FusedAxis& line = task.axis[task.line_axis];
    const int p = x + static_cast<int>(line_row - tile.need);
    return in + r * layout.in_row + (c - channel_lo) * layout.in_channel +
           (line.in_stride < 0 ? tile.width - 1 - p : p) * layout.in_x;
  }
  STOKER_HD void copy(int x, int c, int r) const {
    for (int k = r; k < r + kRowsAtOnce && k < tile.rows; ++k)
      copy_element(output_address(x, c, k), moved(x, c, k), task.out_size);
  }
  STOKER_HD void move(float (&v)[kRowsAtOnce], int x, int c, int r) const {
    on_narrow_type(task.in_type, [&](auto zero) {
      for (int k = 0; k < kRowsAtOnce && r + k < tile.rows; ++k)
        v[k] = narrow_value(load_aligned<decltype(zero)>(moved(x, c, r + k)));
    });
  }

  STOKER_HD void sum_fixed(float (&v)[kRowsAtOnce], int x, int c, int r) const {
    int32_t s[kRowsAtOnce];
    sum_line<int16_t>(s, x, c, r);
    for (int k = 0; k < kRowsAtOnce; ++k) v[k] = fixed_result(s[k]);
  }
  STOKER_HD void sum_float(float (&v)[kRowsAtOnce], int x, int c, int r) const {
    sum_line<float>(v, x, c, r);
    round_narrow(v, task.resampled);
  }
  template <class V>
  STOKER_HD Taps<V> taps_at(int x) const {
    return Taps<V>(program.tables, line_taps(), line_row + x);
  }
  // The weighted sums at x, c of n rows from r on. Rows behind the last one get the last one's sum.
  template <class V, int n>
  STOKER_HD void sum_line(Sum<V> (&s)[n], int x, int c, int r) const {
    const Taps<V> t = taps_at<V>(x);
    const int first = t.first - static_cast<int>(tile.need);
    const std::byte* from[n];
    for (int k = 0; k < n; ++k) {
      from[k] = in + ((r + k < tile.rows ? r + k : tile.rows - 1) * layout.in_row +
                      (c - channel_lo) * layout.in_channel + first * layout.in_x);
      s[k] = kNothing<V>;
    }
    const V* w = t.weights;
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
    for (int left = t.count; left > 0; --left, ++w)
      for (int k = 0; k < n; ++k) {
        s[k] = sum(s[k], product(*w, load_aligned<V>(from[k])));
        from[k] += layout.in_x;
      }
  }

  STOKER_HD void finish(float (&v)[kRowsAtOnce], int x, int c, int r) const {
    const int64_t channel = task.channel_axis == task.line_axis ? tile.begin + x : c;
    const ValueStep* steps = at<ValueStep>(program.tables, task.step) + channel * task.steps;
    for (int i = 0; i < task.steps; ++i) {
      const ValueStep s = steps[i];
      for (int k = 0; k < kRowsAtOnce && s.pointwise; ++k)
        v[k] = pointwise<float>(v[k], s.sub, s.mul, s.add, s.div);
      if (s.list) {
        RowValues g;
        for (int k = 0; k < kRowsAtOnce; ++k) g.v[k] = v[k];
        g = looked_up(program.tables, steps + i, g);
        for (int k = 0; k < kRowsAtOnce; ++k) v[k] = g.v[k];
      }
      if (i + 1 < task.steps) round_narrow(v, s.to);  // the store below rounds last
    }
    on_narrow_type(task.out_type, [&](auto zero) {
      using T = decltype(zero);
      for (int k = 0; k < kRowsAtOnce && r + k < tile.rows; ++k)
        store_aligned(output_address(x, c, r + k), convert<T>(v[k]));
    });
  }

  // Makes what make_rows makes, but for all types, value by value, with or without shared memory.
  STOKER_HD void make_each() const {
    for_each_value([&](const Row& row, int r, int x, int c) {
      if (row.data && is_data(x, c)) make_one(row, x, c, r);
    });
  }
  STOKER_HD const std::byte* source(const Row& row, int x, int c, int r) const {
    if (tile.width) return moved(x, c, r);
    return row.in + (c - channel_lo) * channel_stride() +
           in_offset(program.tables, task.axis[task.line_axis], tile.begin + x);
  }
  STOKER_HD DeviceValue value_at(const Row& row, int x, int c, int r) const {
    switch (task.kind) {
      case FusedArithmetic::kMove: return load_value(source(row, x, c, r), task.in_type);
      case FusedArithmetic::kFixed: return rounded(sum_one<int16_t>(row, x, c, r), task.resampled);
      case FusedArithmetic::kFloat: return rounded(sum_one<float>(row, x, c, r), task.resampled);
      case FusedArithmetic::kWarp: return warped(row, x, c, r);
      default: return rounded(sum_one<double>(row, x, c, r), task.resampled);
    }
  }
  STOKER_HD DeviceValue warped(const Row& row, int x, int c, int r) const {
    const FusedWarp& w = *at<FusedWarp>(program.tables, task.warp);
    int64_t place[WarpInput::kMost];
    for (int i = 0; i < WarpInput::kMost; ++i) {
      place[i] = row.place[i] + w.places.step[task.line_axis][i] * (line_row + x);
      if (task.few_channels) place[i] += w.places.step[task.channel_axis][i] * (c - channel_lo);
    }
    if (w.perspective.count) w.perspective.find(place);
    const std::byte* from = source(row, x, c, r);
    const std::byte* fills = at<std::byte>(program.tables, w.fill);
    const DeviceValue fill =
        load_value(fills + w.fill_step * row.channel_at(tile.begin + x, c), task.resampled);
    if (w.filter == Filter::kNearest)
      return w.source.nearest(place, fill, [&](int64_t offset) {
        return convert_value(load_value(from + offset, task.in_type), task.resampled);
      });
    if (w.filter == Filter::kLinear && is_fixed_warp(task.in_type, task.resampled)) {
      const int32_t sum = w.source.between<FixedMean>(
          place, FixedMean::of(static_cast<uint8_t>(fill.f)),
          [&](int64_t offset) { return FixedMean::of(load_as<uint8_t>(from + offset)); });
      return value_of(static_cast<float>(FixedMean::result(sum)), DType::kUint8);
    }
    if (is_narrow(task.in_type) && is_narrow(task.resampled))
      return value_of(between<float>(w, place, from, fill), task.resampled);
    return value_of(between<double>(w, place, from, fill), task.resampled);
  }
  template <class V>
  STOKER_HD V between(const FusedWarp& w, const int64_t (&place)[WarpInput::kMost],
                      const std::byte* from, const DeviceValue& fill) const {
    const auto load = [&](int64_t o) { return load_number<V>(from + o, task.in_type); };
    if (w.filter == Filter::kCubic) return warped_cubic(place, w.source, number_of<V>(fill), load);
    return w.source.between<FloatBlend<V>>(place, number_of<V>(fill), load);
  }
  STOKER_HD DeviceValue mixed(const Row& row, int x, int c, int r) const {
    const ChannelMix& m = *at<ChannelMix>(program.tables, task.mix);
    const int made = c - channel_lo;
    DeviceValue v[Channels::kMost];
    for (int k = 0; k < m.in; ++k) {
      v[k] = value_at(row, x, channel_lo + k, r);
      const auto* steps = at<ValueStep>(program.tables, task.step_before_mix);
      for (int i = 0; i < task.steps_before_mix; ++i)
        v[k] = stepped(program.tables, v[k], steps[k * task.steps_before_mix + i]);
    }
    if (m.fixed)
      return value_of(static_cast<float>(
                          mix_fixed(m, made, [&](int k) { return static_cast<int32_t>(v[k].f); })),
                      m.to);
    if (is_narrow(m.from) && is_narrow(m.to))
      return value_of(mix_float<float>(m, made, [&](int k) { return number_of<float>(v[k]); }),
                      m.to);
    return value_of(mix_float<double>(m, made, [&](int k) { return number_of<double>(v[k]); }),
                    m.to);
  }
  STOKER_HD void make_one(const Row& row, int x, int c, int r) const {
    if (task.kind == FusedArithmetic::kMove && task.steps == 0 && !task.mix)
      return copy_element(output_address(x, c, r), source(row, x, c, r), task.out_size);
    DeviceValue v = task.mix ? mixed(row, x, c, r) : value_at(row, x, c, r);
    const ValueStep* steps =
        at<ValueStep>(program.tables, task.step) + row.channel_at(tile.begin + x, c) * task.steps;
    for (int i = 0; i < task.steps; ++i) v = stepped(program.tables, v, steps[i]);
    store_value(v, output_address(x, c, r));
  }
  template <class V>
  STOKER_HD Sum<V> sum_one(const Row& row, int x, int c, int r) const {
    Sum<V> s[1] = {kNothing<V>};
    if (tile.width) {
      sum_line<V>(s, x, c, r);
    } else {
      const Taps<V> t = taps_at<V>(x);
      const std::byte* from = row.in + (c - channel_lo) * channel_stride();
      for (int i = 0; i < t.count; ++i)
        s[0] = sum(s[0], product(t.weights[i],
                                 row.one_across<V>(from + (t.first + i) * line_taps().in_stride)));
    }
    return s[0];
  }

  STOKER_HD void fill() const {
    for_each_value([&](const Row& row, int r, int x, int c) {
      if (!row.data || !is_data(x, c))
        copy_element(output_address(x, c, r), row.fill_at(tile.begin + x, c), task.out_size);
    });
  }

  STOKER_HD void store() const {
    const Deal deal(thread, threads, task.out_runs ? chunks_of(layout.out_run) : values());
    if (deal.idle()) return;
    for (int c = 0; c < (task.out_pixels ? 1 : task.channels); ++c)
      for (int r = deal.team; r < tile.rows; r += deal.teams) {
        std::byte* to = row(r).out;
        if (task.few_channels) to += c * task.axis[task.channel_axis].out_stride;
        store_run(to, out + r * layout.out_row + c * layout.out_channel, deal);
      }
  }
  STOKER_HD void store_run(std::byte* to, const std::byte* from, const Deal& deal) const {
    const int64_t stride = task.axis[task.line_axis].out_stride;
    to = in_global(to + tile.begin * stride);
    if (task.out_runs) {
      for (int k = deal.first; k < chunks_of(layout.out_run); k += deal.team_size)
        store_chunk(to, from, layout.out_run, task.out_size, k);
    } else {
      for (int x = deal.first; x < values(); x += deal.team_size)
        copy_element(to + x * stride, from + x * layout.out_x, task.out_size);
    }
  }
};

}  // namespace fused

STOKER_HD inline void FusedProgram::run(int phase, int64_t block, int thread, int threads,
                                        std::byte* shared) const {
  const fused::TileThread work(*this, block, thread, threads, shared);
  if (phase == 0) work.find_rows();
  else if (phase == 1) work.load();
  else if (phase == 2) work.make();
  else work.store();
}

}  // namespace stoker
