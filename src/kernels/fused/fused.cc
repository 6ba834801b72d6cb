// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/fused/fused.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "kernels/elements/walk.h"
#include "kernels/fused/mover.h"
#include "kernels/fused/pass.h"
#include "kernels/fused/row_resampler.h"
#include "kernels/fused/row_warper.h"
#include "kernels/fused/target.h"
#include "kernels/resample/resample.h"
#include "kernels/resample/taps.h"
#include "kernels/rows/mix.h"

namespace stoker {
namespace {

// Where the target's data comes from, axis by axis, and how far apart it lies in the target.
struct Source {
  const std::byte* first;
  MoveAxis axis[kMaxRank];

  // `in` holds the pass's `resampled` or, with `nearest`, its `viewed`.
  Source(const Pass& pass, const Strided& in, const View& out, const Target& target, bool nearest,
         Arena& arena)
      : first(in.data + in.offset) {
    for (int a = 0; a < target.rank(); ++a) {
      const AxisInput& map = pass.map[a];
      const TargetAxis& t = target.axis(a);
      const int64_t stride = in.stride[map.axis], begin = out.origin[a] + t.lo;
      axis[a] = {t.data(), t.stride, stride * map.step, nullptr};
      if (nearest) axis[a].table = pass.nearest(a, begin, t.data(), arena);
      if (axis[a].table) axis[a].from = stride;
      else first += stride * (map.start + map.step * begin);
    }
  }
};

class Loader {
 public:
  Loader(const Source& source, int size, Target& target, Arena& arena)
      : source_(source),
        size_(size),
        x_(axis(target.x)),
        c_(axis(target.c)),
        makes_pixels_(!target.plain() && target.is_uniform() && are_pixels_of(target.size())),
        are_whole_(makes_pixels_ && are_whole()),
        are_planes_(!target.plain() && !x_.table && !c_.table && x_.from == size) {
    if (are_whole_ || are_planes_) return;
    if (makes_pixels_) keep_pixels(arena);
    else keep_planes(target, arena);
  }

  void run(Target& out, const Shape& row) {
    const std::byte* from = source_.first;
    for (int a = 0; a < out.rank(); ++a)
      if (a != out.x.axis && a != out.c.axis)
        from += source_.axis[a].source(row[a] - out.axis(a).lo);
    if (from == last_) return out.copy_row(last_row_, row);
    last_ = from, last_row_ = row;
    if (are_planes_ && !are_whole_) return out.finish(row, from, c_.from);
    if (makes_pixels_) {
      if (!are_whole_) mover_->run(from, packed_);
      return rows::apply(out.steps(0), are_whole_ ? from : packed_, out.data_at(row),
                         x_.extent * c_.extent);
    }
    load(from, static_cast<std::byte*>(out.planes(row)), out.pitch());
    out.finish(row);
  }

 private:
  MoveAxis axis(const TargetAxis& t) const {
    return t.axis < 0 ? MoveAxis() : source_.axis[t.axis];
  }

  // Whether the output's row is pixels of values of `made` bytes, one behind the other.
  bool are_pixels_of(int made) const {
    return (c_.extent == 1 || c_.to == made) && x_.to == c_.extent * made;
  }
  // Whether the input's row is.
  bool are_whole() const {
    return !x_.table && !c_.table && (c_.extent == 1 || c_.from == size_) &&
           x_.from == c_.extent * size_;
  }

  void keep_pixels(Arena& arena) {
    packed_ = arena.array<std::byte>(static_cast<size_t>(x_.extent * c_.extent * size_));
    MoveAxis pixels = x_, values = c_;
    pixels.to = c_.extent * size_, values.to = size_;
    const MoveAxis axes[] = {pixels, values};
    mover_.emplace(size_, axes, arena);
  }
  void keep_planes(Target& target, Arena& arena) {
    target.keep_planes(arena);
    const int64_t pixel = size_ * c_.extent;
    const bool are_pixels = !x_.table && !c_.table && c_.extent > 1 && c_.from == size_;
    splits_ = are_pixels && x_.from == pixel;
    mirrors_ = are_pixels && x_.from == -pixel;
    c_.to = target.pitch(), x_.to = size_;
    const MoveAxis axes[] = {c_, x_};
    if (!splits_ && !mirrors_) mover_.emplace(size_, axes, arena);
    if (!mirrors_) return;
    pitch_ = (x_.extent * size_ + 63) / 64 * 64;
    forward_ = arena.array<std::byte>(static_cast<size_t>(pitch_ * c_.extent));
  }

  void load(const std::byte* from, std::byte* to, int64_t pitch) const {
    const auto channels = static_cast<int>(c_.extent);
    const int64_t n = x_.extent;
    if (mover_) return mover_->run(from, to);
    if (splits_) return rows::split(from, size_, channels, to, pitch, n);
    rows::split(from + (n - 1) * x_.from, size_, channels, forward_, pitch_, n);
    for (int k = 0; k < channels; ++k)
      rows::reverse(forward_ + k * pitch_, to + k * pitch, size_, n);
  }

  const Source& source_;
  int size_;
  MoveAxis x_, c_;
  bool makes_pixels_;  // the steps take rows of pixels, and give such
  bool are_whole_;  // these are the input's as they are
  bool are_planes_;  // the input's rows go into the steps as they are
  bool splits_ = false, mirrors_ = false;  // rows of pixels, forwards and backwards
  std::optional<Mover> mover_;  // for all other rows
  std::byte* packed_ = nullptr;  // the pixels of a row, one behind the other
  std::byte* forward_ = nullptr;  // the planes of a row before it is mirrored
  int64_t pitch_ = 0;
  const std::byte* last_ = nullptr;  // where the row before came from, and its place
  Shape last_row_;
};

// The rows of a pass that mixes channels. What is mixed is put into planes, a row at a time.
class Mixer {
 public:
  Mixer(const Pass& pass, const View& out, Target& target, Arena& arena)
      : mix_(channel_mix(*pass.channels, pass.mix_from, pass.mix_to)) {
    const int c = target.c.axis, size = size_of(pass.mix_from);
    const AxisInput& map = pass.map[c];
    mix_.choose(map.start + map.step * (out.origin[c] + target.c.lo), map.step, target.c.data());
    pitch_ = (target.x.data() * size + 63) / 64 * 64;
    row_ = View::window(nullptr, pass.mix_from, Window::all(out.shape), out.full, out.layout);
    for (int a = 0; a < out.shape.rank; ++a) {
      const TargetAxis& t = target.axis(a);
      row_.origin[a] = out.origin[a] + t.lo;
      row_.shape[a] = t.data();
      row_.strides[a] = a == target.x.axis ? size : 0;
    }
    row_.origin[c] = 0;
    row_.shape[c] = row_.full[c] = mix_.in;
    row_.strides[c] = pitch_;
    row_.data = arena.array<std::byte>(static_cast<size_t>(pitch_ * mix_.in));
    target.keep_planes(arena);
  }
  const View& row() const { return row_; }

  // `input` puts the row into the planes, for which `first` stands.
  template <class Input>
  void run(Target& first, Input& input, Target& out, const Shape& row) const {
    Shape before = row;
    for (int a = 0; a < out.rank(); ++a) before[a] = std::max<int64_t>(row[a] - out.axis(a).lo, 0);
    if (out.x.axis >= 0) before[out.x.axis] = 0;
    before[out.c.axis] = 0;
    input.run(first, before);
    rows::mix(mix_, row_.data, pitch_, out.planes(row), out.pitch(), out.x.data());
    out.finish(row);
  }

 private:
  ChannelMix mix_;
  View row_;
  int64_t pitch_;
};

Window resampled_window(const Pass& pass, const View& out, const Target& target) {
  Window w{Shape::filled(target.rank(), 0), Shape::filled(target.rank(), 0)};
  for (int a = 0; a < target.rank(); ++a) {
    const AxisInput& map = pass.map[a];
    const TargetAxis& t = target.axis(a);
    const int64_t first = map.start + map.step * (out.origin[a] + t.lo);
    const int64_t last = map.start + map.step * (out.origin[a] + t.hi - 1);
    w.begin[map.axis] = std::min(first, last);
    w.end[map.axis] = std::max(first, last) + 1;
  }
  return w;
}

template <class Input>
void run_rows(Target& target, Input&& input) {
  Shape row = target.first();
  do input(target, row);
  while (target.next(row));
}

// How the pass's input moves while a walk goes over the output, if its places are only chosen.
Track input_track(const Pass& pass, const Strided& in, const Shape& origin) {
  Track t{in.offset, Shape::filled(origin.rank, 0)};
  for (int a = 0; a < origin.rank; ++a) {
    const AxisInput& map = a == pass.channel_axis && pass.channels ? pass.mixed : pass.map[a];
    t.stride[a] = map.step * in.stride[map.axis];
    t.start += (map.start + map.step * origin[a]) * in.stride[map.axis];
  }
  return t;
}

// Calls row(from, to, count) for the output's rows of `box`, which are as long as possible. Returns
// false, and does nothing, where these are shorter than `least`, or the steps between the values of
// a row differ from these.
template <class Row>
bool walk_rows(const Pass& pass, const View& in, const View& out, const Shape& box, int64_t least,
               int64_t from_step, int64_t to_step, const Row& row) {
  if (pass.resample.count || pass.warp || pass.fills) return false;
  const Strided from = pass.viewed_in(in);
  Walk<2> walk(box, {input_track(pass, from, out.origin), {0, out.strides}});
  if (walk.step[0] != from_step || walk.step[1] != to_step || walk.count < least) return false;
  do row(from.data + walk.row[0], out.as<std::byte>() + walk.row[1], walk.count);
  while (walk.next());
  return true;
}

// A call for a row costs as much as the steps of so many values.
constexpr int64_t kFewValues = 64;

// Puts all values through the same steps, where they lie one behind the other. Pixels with gaps
// between them are left to Loader, whose rows are longer.
bool step_values(const Pass& pass, const View& in, const View& out, const Target& target) {
  if (target.plain() || !target.is_uniform()) return false;
  const int64_t least = std::min(kFewValues, target.x.data() * target.c.data());
  return walk_rows(pass, in, out, out.shape, least, size_of(in.dtype), target.size(),
                   [&](const std::byte* from, std::byte* to, int64_t n) {
                     rows::apply(target.steps(0), from, to, n);
                   });
}

// Mixes whole pixels, where nothing else is to be done with them.
bool mix_pixels(const Pass& pass, const View& in, const View& out) {
  const ChannelMix mix = channel_mix(*pass.channels, pass.mix_from, pass.mix_to);
  const int c = pass.channel_axis;
  const bool are_all = pass.map[c].start == 0 && pass.map[c].step == 1 && out.shape[c] == mix.out;
  if (!are_all || pass.steps || !rows::mixes_pixels(mix)) return false;
  const AxisInput& mixed = pass.mixed;
  if (out.strides[c] != 1 || pass.viewed_in(in).stride[mixed.axis] * mixed.step != 1) return false;
  Shape pixels = out.shape;
  pixels[c] = 1;
  return walk_rows(
      pass, in, out, pixels, 1, mix.in, mix.out,
      [&](const std::byte* from, std::byte* to, int64_t n) { rows::mix_pixels(mix, from, to, n); });
}

// Moves elements that no step changes, all at once.
void move_all(const Source& source, int size, Target& target, Arena& arena) {
  Shape first = target.first();
  for (int a = 0; a < target.rank(); ++a) first[a] = target.axis(a).lo;
  Mover(size, {source.axis, static_cast<size_t>(target.rank())}, arena)
      .run(source.first, target.at(first));
}

// Puts the data into the target: at once where that is faster and `by_rows` is false, else by
// calling f with what puts rows into it. Requires: the target has data.
template <class F>
void with_rows(const Pass& pass, const View& in, const View& out, Target& target, Arena& arena,
               bool by_rows, const F& f) {
  Strided from = pass.viewed_in(in);
  if (pass.warp) {
    const Block warp{*pass.warp, pass.resampled.dtype};
    const Window read = demand({&warp, 1}, pass.viewed, resampled_window(pass, out, target));
    return f(RowWarper(pass, from, read, out, target, arena));
  }
  const bool nearest = is_selection(pass.resample);
  if (pass.resample.count && !nearest) {
    if (RowResampler::suits(pass, from, target))
      return f(RowResampler(pass, from, out, target, arena));
    from = Strided::of(resample(pass.resample, from, pass.viewed.shape, pass.resampled.dtype,
                                resampled_window(pass, out, target), arena));
  }
  const Source source(pass, from, out, target, nearest, arena);
  const int size = size_of(from.dtype);
  if (target.plain() && !by_rows) return move_all(source, size, target, arena);
  f(Loader(source, size, target, arena));
}

void load_data(const Pass& pass, const View& in, const View& out, Target& target, Arena& arena) {
  if (step_values(pass, in, out, target)) return;
  with_rows(pass, in, out, target, arena, false, [&](auto&& rows) {
    run_rows(target, [&](Target& to, const Shape& row) { rows.run(to, row); });
  });
}

void mix_data(const Pass& pass, const View& in, const View& out, Target& target, Arena& arena) {
  if (mix_pixels(pass, in, out)) return;
  const Pass before = pass.before_mix();
  const Mixer mixer(pass, out, target, arena);
  Target first(before, mixer.row(), arena, target.x.axis);
  with_rows(before, in, mixer.row(), first, arena, true, [&](auto&& rows) {
    run_rows(target, [&](Target& to, const Shape& row) { mixer.run(first, rows, to, row); });
  });
}

void run_pass(const Pass& pass, const View& in, const View& out, Arena& arena) {
  if (out.shape.volume() == 0) return;  // an empty window has no first row
  const auto run = [&](const Pass& last, const auto& make_data) {
    Target target(last, out, arena);
    if (target.has_data()) make_data(pass, in, out, target, arena);
    target.paint(arena);
  };
  if (pass.channels) run(pass.after_mix(), mix_data);
  else run(pass, load_data);
}

void check(const TensorType& made, const View& out) {
  if (made.dtype == out.dtype && made.shape == out.full) return;
  throw Error("the blocks make " + made.str() + ", the output is " + out.whole().str());
}

}  // namespace

void run_blocks(std::span<const Block> blocks, const View& in, const View& out, Arena& scratch) {
  View from = in;
  for (;;) {
    Pass pass(from.whole());
    blocks = blocks.subspan(pass.add(blocks));
    if (blocks.empty()) {
      check(pass.out, out);
      return run_pass(pass, from, out, scratch);
    }
    const Window need = demand(blocks, pass.out, out.covers());
    const size_t bytes = static_cast<size_t>(need.shape().volume()) * size_of(pass.out.dtype);
    const View between = View::window(scratch.allocate(bytes), pass.out.dtype, need, pass.out.shape,
                                      pass.out.layout);
    run_pass(pass, from, between, scratch);
    from = between;
  }
}

}  // namespace stoker
