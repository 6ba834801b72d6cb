// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/arithmetic/evaluate.h"

#include <cstring>

#include "kernels/elements/operation_rows.h"
#include "kernels/elements/walk.h"
#include "op/arithmetic/broadcast.h"

namespace stoker {

namespace {

// Bytes of each value that are computed at a time: few, so that they stay in the nearest cache.
constexpr int64_t kSlot = 4096;
// Repeated inputs of at most so many elements are laid out again and again.
constexpr int64_t kMostPeriod = 1024;

// The elements of an input in the result's order.
class Elements {
 public:
  // at() is asked for `chunk` elements at most.
  Elements(const View& v, const View& out, DType to, bool same_bits, int64_t chunk, Arena& scratch)
      : from_(v.dtype), to_(to), same_bits_(same_bits), from_size_(size_of(v.dtype)) {
    const Shape strides = strides_along(v, out.shape.rank);
    data_ = v.as<const std::byte>();
    const int first = out.shape.rank - v.full.rank;
    for (int a = 0; a < v.full.rank; ++a)
      if (v.full[a] != 1) data_ += (out.origin[first + a] - v.origin[a]) * v.strides[a];
    for (int a = 0; a < out.shape.rank; ++a) {
      if (out.shape[a] == 1) continue;
      if (rank_ > 0 && stride_[rank_ - 1] == strides[a] * out.shape[a]) {
        extent_[rank_ - 1] *= out.shape[a];
        stride_[rank_ - 1] = strides[a];
      } else {
        extent_[rank_] = out.shape[a];
        stride_[rank_++] = strides[a];
      }
    }
    if (rank_ == 0) extent_[0] = 1, stride_[0] = 0, rank_ = 1;
    if (stride_[0] == 0) make_tile(chunk, scratch);
  }

  // Elements [first, first + n), where they are or in `room`.
  const void* at(int64_t first, int64_t n, std::byte* room) const {
    if (tile_) return tile_ + first % period_ * size_of(to_);
    if (is_dense() && same_bits_) return data_ + first * from_size_;
    read(first, n, room);
    return room;
  }

 private:
  bool is_dense() const { return rank_ == 1 && stride_[0] == from_size_; }

  // Lays out a few repeated elements as often as a chunk needs them.
  void make_tile(int64_t chunk, Arena& scratch) {
    int64_t period = 1;
    for (int a = 1; a < rank_; ++a) period *= extent_[a];
    if (period > kMostPeriod) return;
    const int64_t size = size_of(to_), all = (chunk + period) * size;
    auto* tile = scratch.array<std::byte>(static_cast<size_t>(all));
    read(0, period, tile);
    for (int64_t made = period * size; made < all; made *= 2)
      std::memcpy(tile + made, tile, static_cast<size_t>(std::min(made, all - made)));
    tile_ = tile;
    period_ = period;
  }

  void read(int64_t first, int64_t n, std::byte* to) const {
    int64_t at[kMaxRank] = {}, rest = first;
    const std::byte* from = data_;
    for (int a = rank_ - 1; a >= 0; --a) {
      at[a] = a > 0 ? rest % extent_[a] : rest;
      rest /= extent_[a];
      from += at[a] * stride_[a];
    }
    const int last = rank_ - 1;
    const int64_t size = size_of(to_);
    while (n > 0) {
      const int64_t count = std::min(n, extent_[last] - at[last]);
      if (same_bits_ && stride_[last] == size)
        std::memcpy(to, from, static_cast<size_t>(count * size));
      else convert_row(from, same_bits_ ? to_ : from_, stride_[last], to, to_, size, count);
      n -= count;
      to += count * size;
      if (n == 0) return;
      from -= at[last] * stride_[last];
      at[last] = 0;
      for (int a = last - 1; a >= 0; --a) {
        from += stride_[a];
        if (++at[a] < extent_[a]) break;
        from -= at[a] * stride_[a];
        at[a] = 0;
      }
    }
  }

  const std::byte* data_;
  DType from_, to_;
  bool same_bits_;
  int64_t from_size_;
  int rank_ = 0;
  int64_t extent_[kMaxRank] = {}, stride_[kMaxRank] = {};
  const std::byte* tile_ = nullptr;
  int64_t period_ = 1;
};

// An instruction with what it needs.
struct Ready {
  const Instruction* instruction;
  OperationRow row = nullptr;
  const Elements* elements = nullptr;
  const std::byte* number = nullptr;  // a chunk of it
};

// A chunk of `n` elements, all of them the number.
std::byte* repeated(const Instruction& i, int64_t n, Arena& scratch) {
  auto* chunk = scratch.array<std::byte>(static_cast<size_t>(n * size_of(i.type)));
  with_size(size_of(i.type), [&]<class T>(T) {
    T x;
    std::memcpy(&x, &i.bits, sizeof(x));
    std::fill_n(reinterpret_cast<T*>(chunk), n, x);
  });
  return chunk;
}

int64_t widest(const Compiled& e) {
  int size = size_of(e.stored);
  for (const Instruction& i : e.instructions) size = std::max({size, size_of(i.type)});
  return size;
}

// Whether one of n divisors that are judged is 0. They are those of elements [first, first + n) of
// the result.
bool has_judged_zero(const void* divisors, DType t, int64_t first, int64_t n, const View& out,
                     const Window* judged) {
  if (!has_zero(divisors, t, n)) return false;
  if (!judged) return true;
  const Shape steps = View::dense_strides(out.shape, 1);
  for (int64_t k = 0; k < n; ++k) {
    bool is_judged = true;
    for (int a = 0; a < out.shape.rank; ++a) {
      const int64_t p = out.origin[a] + (first + k) / steps[a] % out.shape[a];
      is_judged = is_judged && p >= judged->begin[a] && p < judged->end[a];
    }
    const auto* divisor = static_cast<const std::byte*>(divisors) + k * size_of(t);
    if (is_judged && has_zero(divisor, t, 1)) return true;
  }
  return false;
}

// Whether it is one operation on values as they lie in memory, so that nothing is kept in between.
bool is_one_operation(const Compiled& e, std::span<const View> inputs, const View& out) {
  using Kind = Instruction::Kind;
  if (!out.is_dense() || e.dtype == DType::kFloat16) return false;
  for (size_t k = 0; k < e.instructions.size(); ++k) {
    const Instruction& i = e.instructions[k];
    if (k + 1 == e.instructions.size()) return i.kind == Kind::kWork;
    if (i.kind != Kind::kInput || !i.same_bits) return false;
    const View& in = inputs[i.index];
    if (in.full != out.full || in.shape != out.shape || !in.is_dense()) return false;
  }
  return false;
}

class Machine {
 public:
  Machine(const Compiled& e, std::span<const View> inputs, const View& out, const Window* judged,
          Arena& scratch)
      : e_(e), out_(out), judged_(judged), is_alone_(is_one_operation(e, inputs, out)) {
    const int64_t volume = out.shape.volume();
    chunk_ = is_alone_ ? volume : std::min(kSlot / widest(e), volume);
    ready_ = scratch.array<Ready>(e.instructions.size());
    for (size_t k = 0; k < e.instructions.size(); ++k)
      ready_[k] = made_ready(e.instructions[k], inputs, scratch);
    const auto depth = static_cast<size_t>(e.depth);
    slot_ = is_alone_ ? 0 : kSlot;
    slots_ = scratch.array<std::byte>(depth * 2 * slot_);
    stack_ = scratch.array<const void*>(depth);
  }

  void run() {
    Walk<1> walk(out_.shape, {Track::of(out_, out_.origin)});
    int64_t first = 0;
    do {
      std::byte* row = out_.as<std::byte>() + walk.row[0];
      for (int64_t k = 0; k < walk.count; k += chunk_)
        compute(first + k, std::min(chunk_, walk.count - k), row + k * walk.step[0], walk.step[0]);
      first += walk.count;
    } while (walk.next());
  }

 private:
  using Kind = Instruction::Kind;

  Ready made_ready(const Instruction& i, std::span<const View> inputs, Arena& scratch) const {
    Ready r{&i};
    if (i.kind == Kind::kNumber) r.number = repeated(i, chunk_, scratch);
    if (i.kind == Kind::kInput)
      r.elements = new (scratch.allocate(sizeof(Elements)))
          Elements(inputs[i.index], out_, i.type, i.same_bits, chunk_, scratch);
    if (i.kind == Kind::kWork) {
      r.row = operation_row(i.operation, i.type);
      if (!r.row) throw Error("there is no row of this operation");
    }
    return r;
  }

  // Makes elements [first, first + n) of the result at `to`.
  void compute(int64_t first, int64_t n, std::byte* to, int64_t step) {
    const bool is_direct = (step == size_of(out_.dtype) || n == 1) && out_.dtype != DType::kFloat16;
    const size_t count = e_.instructions.size();
    top_ = 0;
    for (size_t p = 0; p < count; ++p)
      do_one(ready_[p], first, n, is_direct && p + 1 == count ? to : nullptr);
    if (stack_[0] != to)
      convert_row(stack_[0], e_.stored, size_of(e_.stored), to, out_.dtype, step, n);
  }

  // `to`: where the result of work is wanted; null: anywhere.
  void do_one(const Ready& r, int64_t first, int64_t n, std::byte* to) {
    const Instruction& i = *r.instruction;
    switch (i.kind) {
      case Kind::kNumber: stack_[top_++] = r.number; break;
      case Kind::kInput:
        stack_[top_] = r.elements->at(first, n, slot_of(top_));
        ++top_;
        break;
      case Kind::kConvert: {
        std::byte* made = slot_beside(top_ - 1);
        convert_row(stack_[top_ - 1], i.from, made, i.type, n);
        stack_[top_ - 1] = made;
        break;
      }
      case Kind::kWork: work(r, first, n, to); break;
    }
  }

  void work(const Ready& r, int64_t first, int64_t n, std::byte* to) {
    const Instruction& i = *r.instruction;
    const int operands = operands_of(i.operation);
    top_ -= operands;
    const void* operand[3] = {};
    for (int o = 0; o < operands; ++o) operand[o] = stack_[top_ + o];
    if (i.checks_divisor && has_judged_zero(operand[1], i.type, first, n, out_, judged_))
      throw SampleError("a whole number is divided by 0");
    std::byte* made = to ? to : slot_beside(top_);
    r.row(operand[0], operand[1], operand[2], made, n);
    stack_[top_++] = made;
  }

  // Each place of the stack has two slots, because results must not overlap their operands.
  std::byte* slot_of(int place) const { return slots_ + static_cast<size_t>(place) * 2 * slot_; }
  std::byte* slot_beside(int place) const {
    std::byte* first = slot_of(place);
    return stack_[place] == first ? first + slot_ : first;
  }

  const Compiled& e_;
  const View& out_;
  const Window* judged_;
  bool is_alone_;
  int64_t chunk_ = 0;  // elements that are made at a time
  Ready* ready_ = nullptr;  // by instruction
  size_t slot_ = 0;  // bytes
  std::byte* slots_ = nullptr;
  const void** stack_ = nullptr;
  int top_ = 0;
};

}  // namespace

void evaluate(const Compiled& e, std::span<const View> inputs, const View& out, Arena& scratch,
              const Window* judged) {
  if (out.shape.volume() > 0) Machine(e, inputs, out, judged, scratch).run();
}

}  // namespace stoker
