// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/fused/fused.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "kernels/fused/pass.h"
#include "kernels/fused/row_resampler.h"
#include "kernels/fused/target.h"
#include "kernels/resample/resample.h"
#include "kernels/resample/taps.h"

namespace stoker {
namespace {

// Loads rows by moving values of the input, without arithmetic.
class Loader {
 public:
  // `in` holds the pass's `resampled` or, with `nearest`, its `viewed`.
  Loader(const Pass& pass, const Strided& in, const View& out, Target& target, bool nearest,
         Arena& arena)
      : data_(in.data), size_(size_of(in.dtype)), offset_(in.offset), target_(target) {
    for (int a = 0; a < target.rank(); ++a) {
      const AxisInput& map = pass.map[a];
      const TargetAxis& t = target.axis(a);
      const int64_t stride = in.stride[map.axis];
      if (nearest) table_[a] = pass.nearest(a, out.origin[a] + t.lo, t.data(), arena);
      stride_[a] = table_[a] ? stride : stride * map.step;
      if (table_[a]) continue;
      offset_ += stride * (map.start + map.step * (out.origin[a] + t.lo));
    }
    pick_whole();
    are_planes_ = !target.plain() && !has_table(target.c) && !has_table(target.x) &&
                  stride_of(target.x) == size_;
    if (whole_ || are_planes_) return;
    target.keep_planes(arena);
    pitch_ = (target.x.data() * size_ + 63) / 64 * 64;
    forward_ = arena.array<std::byte>(static_cast<size_t>(pitch_ * target.c.data()));
  }

  void run(Target& out, const Shape& row) const {
    const std::byte* from = data_ + offset_;
    for (int a = 0; a < out.rank(); ++a)
      if (a != out.x.axis && a != out.c.axis) from += offset_of(a, row[a] - out.axis(a).lo);
    if (whole_) {
      std::byte* to = out.at(row) + out.c.lo * out.c.stride + out.x.lo * out.x.stride;
      rows::copy(from, whole_, to, whole_, static_cast<int>(size_), out.x.data() * out.c.data());
      return;
    }
    if (are_planes_) return out.finish(row, from, stride_of(out.c));
    load(out, from, static_cast<std::byte*>(out.planes(row)));
    out.finish(row);
  }

 private:
  int64_t offset_of(int a, int64_t i) const {
    return a < 0 ? 0 : (table_[a] ? table_[a][i] : i) * stride_[a];
  }
  int64_t stride_of(const TargetAxis& t) const { return t.axis < 0 ? 0 : stride_[t.axis]; }
  bool has_table(const TargetAxis& t) const { return t.axis >= 0 && table_[t.axis]; }

  // Rows whose bytes are the same in input and output are copied in one go.
  void pick_whole() {
    const TargetAxis &x = target_.x, &c = target_.c;
    if (!target_.plain() || has_table(x) || has_table(c)) return;
    const int64_t pixel = c.data() * size_;
    if (c.data() > 1 && (stride_of(c) != size_ || c.stride != size_)) return;
    if (stride_of(x) == pixel && x.stride == pixel) whole_ = size_;
  }

  void load(const Target& out, const std::byte* from, std::byte* to) const {
    const TargetAxis &x = out.x, &c = out.c;
    const int64_t pitch = out.pitch(), n = x.data(), stride = stride_of(x),
                  pixel = size_ * c.data();
    if (has_table(x) || has_table(c)) return load_chosen(out, from, to);
    if (c.data() > 1 && stride_of(c) == size_ && stride == pixel) {
      rows::split(from, size_, static_cast<int>(c.data()), to, pitch, n);
    } else if (c.data() > 1 && stride_of(c) == size_ && stride == -pixel) {
      const std::byte* last = from + (n - 1) * stride;
      rows::split(last, size_, static_cast<int>(c.data()), forward_, pitch_, n);
      for (int64_t k = 0; k < c.data(); ++k)
        rows::reverse(forward_ + k * pitch_, to + k * pitch, size_, n);
    } else if (stride == -size_) {
      for (int64_t k = 0; k < c.data(); ++k)
        rows::reverse(from + offset_of(c.axis, k) + (n - 1) * stride, to + k * pitch, size_, n);
    } else {
      for (int64_t k = 0; k < c.data(); ++k)
        rows::copy(from + offset_of(c.axis, k), stride, to + k * pitch, size_, size_, n);
    }
  }

  void load_chosen(const Target& out, const std::byte* from, std::byte* to) const {
    for (int64_t k = 0; k < out.c.data(); ++k)
      for (int64_t i = 0; i < out.x.data(); ++i)
        rows::copy(from + offset_of(out.c.axis, k) + offset_of(out.x.axis, i), 0,
                   to + k * out.pitch() + i * size_, 0, size_, 1);
  }

  const std::byte* data_;
  int size_;
  int64_t offset_;
  const Target& target_;
  int64_t stride_[kMaxRank] = {};
  const int64_t* table_[kMaxRank] = {};
  int64_t whole_ = 0;
  bool are_planes_ = false;  // the input's rows go into the steps as they are
  std::byte* forward_ = nullptr;  // the planes of a row before it is mirrored
  int64_t pitch_ = 0;
};

// The window of `resampled` that the target's data needs.
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
void run_rows(Target& target, const Input& input) {
  Shape row = target.first();
  do {
    if (target.is_data(row)) input.run(target, row);
    target.paint(row);
  } while (target.next(row));
}

struct NoInput {
  void run(Target&, const Shape&) const {}
};

// Copies, where input and output are the same bytes in one piece. Returns whether they are.
bool copy_whole(const Pass& pass, const Strided& from, const View& out) {
  if (pass.steps || pass.fills || pass.resample.count || !out.is_dense()) return false;
  Shape first;
  first.rank = out.shape.rank;
  for (int a = 0; a < out.shape.rank; ++a) {
    const AxisInput& map = pass.map[a];
    first[map.axis] = map.start + map.step * out.origin[a];
    if (out.shape[a] > 1 && from.stride[map.axis] * map.step != out.strides[a]) return false;
  }
  std::memcpy(out.data, from.at(first), static_cast<size_t>(out.bytes()));
  return true;
}

void run_pass(const Pass& pass, const View& in, const View& out, Arena& arena) {
  if (out.shape.volume() == 0) return;  // an empty window has no first row
  if (copy_whole(pass, pass.viewed_in(in), out)) return;
  Target target(pass, out, arena);
  if (!target.has_data()) return run_rows(target, NoInput{});
  Strided from = pass.viewed_in(in);
  const bool nearest = is_selection(pass.resample);
  if (pass.resample.count && !nearest && RowResampler::suits(pass, from, target))
    return run_rows(target, RowResampler(pass, from, out, target, arena));
  if (pass.resample.count && !nearest) {
    from = Strided::of(resample(pass.resample, from, pass.viewed.shape, pass.resampled.dtype,
                                resampled_window(pass, out, target), arena));
  }
  run_rows(target, Loader(pass, from, out, target, nearest, arena));
}

void check(const TensorType& made, const View& out) {
  if (made.dtype == out.dtype && made.shape == out.full) return;
  throw Error("the blocks make " + made.str() + ", the output is " +
              TensorType{out.dtype, out.layout, out.full}.str());
}

}  // namespace

void run_blocks(std::span<const Block> blocks, const View& in, const View& out, Arena& scratch) {
  View from = in;
  for (;;) {
    Pass pass({from.dtype, from.layout, from.full});
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
