// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "op/arithmetic/broadcast.h"
#include "op/arithmetic/expression.h"
#include "op/loops/gpu_each.cuh"

namespace stoker {

// Works on the values on top of a stack, of 8 bytes each.
struct WorkOnStack {
  uint64_t* top;  // the first operand, and the result

  template <class T>
  STOKER_HD T get(int k) const {
    T x;
    __builtin_memcpy(static_cast<void*>(&x), top + k, sizeof(T));
    return x;
  }
  template <class T>
  STOKER_HD void put(T x) const {
    __builtin_memcpy(top, &x, sizeof(T));
  }
  template <class To, class From, class F>
  STOKER_HD void one(F f) const {
    put<To>(f(get<From>(0)));
  }
  template <class To, class From, class F>
  STOKER_HD void two(F f) const {
    put<To>(f(get<From>(0), get<From>(1)));
  }
  template <class T>
  STOKER_HD void select() const {
    put<T>(get<uint8_t>(0) ? get<T>(1) : get<T>(2));
  }
};

template <class From>
struct PutConverted {
  uint64_t* to;
  From value;
  template <class To>
  STOKER_HD void operator()(To) const {
    const To x = convert<To>(value);
    __builtin_memcpy(to, &x, sizeof(To));
  }
};
struct PutAs {
  uint64_t* to;
  const std::byte* from;
  DType type;
  template <class From>
  STOKER_HD void operator()(From) const {
    From x;
    __builtin_memcpy(static_cast<void*>(&x), from, sizeof(From));
    with_type(type, PutConverted<From>{to, x});
  }
};
struct StoreAs {
  std::byte* to;
  const uint64_t* from;
  DType stored;
  template <class To>
  STOKER_HD void operator()(To) const {
    uint64_t bits = 0;
    with_type(stored, Read<To>{&bits, from});
    __builtin_memcpy(to, &bits, sizeof(To));
  }
  template <class To>
  struct Read {
    uint64_t* bits;
    const uint64_t* from;
    template <class From>
    STOKER_HD void operator()(From) const {
      From x;
      __builtin_memcpy(static_cast<void*>(&x), from, sizeof(From));
      const To converted = convert<To>(x);
      __builtin_memcpy(bits, &converted, sizeof(To));
    }
  };
};

// One sample's part. The stack lies in the thread's own memory.
struct EvaluateItem {
  struct Input {
    const std::byte* data;
    DType dtype;
    Axes axes;
  };
  const Instruction* instructions;
  int count;
  const Input* inputs;
  std::byte* out;
  DType dtype, stored;
  int size;  // of the dtype
  int64_t pieces;

  STOKER_HD void run(int64_t k) const {
    uint64_t stack[kMostStack];
    int top = 0;
    for (int p = 0; p < count; ++p) {
      const Instruction& i = instructions[p];
      switch (i.kind) {
        case Instruction::Kind::kInput: {
          const Input& in = inputs[i.index];
          const std::byte* from = in.data + in.axes.offset(k);
          with_type(i.same_bits ? i.type : in.dtype, PutAs{stack + top++, from, i.type});
          break;
        }
        case Instruction::Kind::kNumber: stack[top++] = i.bits; break;
        case Instruction::Kind::kConvert: {
          const uint64_t value = stack[top - 1];
          with_type(i.from,
                    PutAs{stack + top - 1, reinterpret_cast<const std::byte*>(&value), i.type});
          break;
        }
        case Instruction::Kind::kWork:
          top -= operands_of(i.operation);
          with_operation(i.operation, i.type, WorkOnStack{stack + top++});
          break;
      }
    }
    with_type(dtype, StoreAs{out + k * size, stack, stored});
  }
};

// evaluate() for output 0 of a batch. Dividing a whole number by 0 gives 0.
inline void evaluate(GpuRun& r, const Compiled& e) {
  const Instruction* instructions = r.put(std::span<const Instruction>(e.instructions));
  // Inputs behind the last one that is read may have any shape.
  size_t count = 0;
  for (const Instruction& i : e.instructions)
    if (i.kind == Instruction::Kind::kInput) count = std::max<size_t>(count, i.index + 1);
  std::vector<EvaluateItem::Input> inputs;
  for (const BatchItem& item : r.items) {
    const View& out = item.outputs[0];
    for (const View& v : std::span(item.inputs).first(count)) {
      const Shape strides = strides_along(v, out.shape.rank);
      const std::byte* data = v.as<const std::byte>();
      for (int a = 0; a < v.full.rank; ++a)
        if (v.full[a] != 1) data -= v.origin[a] * v.strides[a];
      inputs.push_back({data, v.dtype, Axes(out.shape, strides)});
    }
  }
  const EvaluateItem::Input* all = r.put(std::span<const EvaluateItem::Input>(inputs));
  std::vector<EvaluateItem> items;
  for (const BatchItem& item : r.items) {
    const View& out = item.outputs[0];
    items.push_back({instructions, static_cast<int>(e.instructions.size()), all,
                     out.as<std::byte>(), out.dtype, e.stored, size_of(out.dtype),
                     out.shape.volume()});
    all += count;
  }
  run_each(r, std::span<const EvaluateItem>(items));
}

}  // namespace stoker
