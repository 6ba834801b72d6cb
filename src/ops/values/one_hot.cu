// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/elements/boxes.h"
#include "kernels/fused_device/value.h"
#include "op/loops/gpu_each.cuh"
#include "op/type_of.h"

namespace stoker::ops::values {

struct OneHot {
  std::optional<int> axis;
  Layout axis_name;
  DType dtype = DType::kFloat32;
  int num_classes = 0;
  float off_value = 0, on_value = 1;

  template <class T>
  struct Pick {
    T on, off;
    STOKER_HD T operator()(double number, double own) const { return number == own ? on : off; }
  };
  struct Picks {
    const std::byte* in;
    Axes numbers, own;
    DType from, to;
    float on, off;
    std::byte* out;
    int size;
    int64_t pieces;
    STOKER_HD void run(int64_t k) const {
      const double number = number_of<double>(load_value(in + numbers.offset(k), from));
      const float v = Pick<float>{on, off}(number, static_cast<double>(own.offset(k)));
      store_value(value_of(v, to), out + k * size);
    }
  };

  static constexpr Classes kClasses = Classes::kRead;
  static constexpr auto schema = describe(
      "one_hot",
      "Marks class numbers along a new axis.\n\n"
      "At the number of its class an element has 'on_value', else 'off_value'; a number that is no "
      "class has only the latter. Without 'axis' the new axis is the last one, but where each "
      "sample of a batch has one number, each gives a list. With it, a result depends on its "
      "sample alone. The output has a layout if the new axis has a name. 'on_value' and "
      "'off_value' are rounded and saturate.",
      ports({.name = "input",
             .help = "Class numbers, which are whole.",
             .dtypes = "uint8, int8, uint16, int16, uint32, int32, uint64, int64, bool"}),
      ports({.name = "output", .help = "The marked classes."}),
      arg(&OneHot::axis, "axis",
          "Number of the new axis in the output; -1 is the last. Default: the last one, or the "
          "only one of a list.",
          between(-1, kMaxRank - 1)),
      arg(&OneHot::axis_name, "axis_name", "Letter of the new axis."),
      arg(&OneHot::dtype, "dtype", "Output dtype."),
      arg(&OneHot::num_classes, "num_classes", "How many classes there are.", at_least(0)),
      arg(&OneHot::off_value, "off_value", "The value of other classes."),
      arg(&OneHot::on_value, "on_value", "The value of the class."));

  // The place of the new axis among those of the input.
  int place(int rank) const { return axis.value_or(-1) < 0 ? rank : *axis; }
  // Extents or strides of the input with `more` for the new axis, or `more` alone for a list.
  Shape widened(const Shape& s, int64_t more, bool is_list) const {
    Shape all;
    for (int a = 0; a <= s.rank && !is_list; ++a)
      all.push_back(a == place(s.rank) ? more : s[a - (a > place(s.rank))]);
    return is_list ? Shape{more} : all;
  }
  TensorType marked(const TensorType& in, bool is_list) const {
    const int rank = in.shape.rank;
    require(rank < kMaxRank && axis.value_or(-1) <= rank, "the input has ", rank,
            " axes, and 'axis' is ", axis.value_or(-1));
    TensorType t{dtype, {}, widened(in.shape, num_classes, is_list)};
    if (axis_name.empty()) return t;
    require(t.shape.rank == 1 || !in.layout.empty(), "argument 'axis_name' needs a layout");
    std::string letters(t.shape.rank == 1 ? "" : in.layout.str());
    require(letters.find(axis_name.str()) == letters.npos, "argument 'axis_name' is ", axis_name,
            ", which the layout ", in.layout, " has already");
    const auto at = static_cast<size_t>(place(static_cast<int>(letters.size())));
    t.layout = letters.insert(std::min(at, letters.size()), axis_name.str());
    return t;
  }
  // Whether each sample has one number, as far as that is known.
  static std::optional<bool> is_single(const Shape& s) {
    bool is_known = s.rank >= 0;
    for (int a = 0; a < s.rank; ++a) {
      if (s[a] >= 0 && s[a] != 1) return false;
      is_known = is_known && s[a] == 1;
    }
    return is_known ? std::optional(true) : std::nullopt;
  }
  bool makes_list(const Shape& s) const { return !axis && is_single(s).value_or(false); }
  bool sees_batch(std::span<const TensorType> in) const { return !axis && !is_single(in[0].shape); }

  void check(Checker& c) const {
    require(axis_name.rank() <= 1, "argument 'axis_name' is ", axis_name, ", expected one letter");
    if (num_classes == 0) c.warning = "without 'num_classes' there are no elements";
    const TensorType& in = c.in();
    if (in.shape.rank < 0 || sees_batch({&in, 1})) c.out({dtype, {}, Shape::filled(-1, 0)});
    else c.out(marked(in, makes_list(in.shape)));
  }
  void infer(Inference& i) const { i.out(marked(i.inputs[0], makes_list(i.inputs[0].shape))); }
  static void infer_batch(BatchInference& b, std::span<const OneHot* const> ops) {
    const bool is_list = std::all_of(b.items.begin(), b.items.end(), [](const auto& item) {
      return item.inputs[0].shape.volume() == 1;
    });
    for (size_t i = 0; i < b.items.size(); ++i)
      b.items[i].outputs = {ops[i]->marked(b.items[i].inputs[0], is_list)};
  }

  // For classes on the last axis, all of which are in `out`.
  template <class T>
  void mark_rows(const View& in, const View& out, T on, T off, Arena& scratch) const {
    View part = in;
    if (in.full.rank + 1 == out.full.rank) {
      Window w = out.covers();
      w.begin.rank = w.end.rank = in.full.rank;
      part = part_of(in, w);
    }
    const int64_t rows = part.shape.volume();
    auto* dense = scratch.array<std::byte>(static_cast<size_t>(part.bytes()));
    auto* numbers = scratch.array<double>(static_cast<size_t>(rows));
    copy_to_dense(part, dense);
    convert_row(dense, in.dtype, numbers, DType::kFloat64, rows);
    T* row = out.as<T>();
    for (int64_t k = 0; k < rows; ++k, row += num_classes) {
      std::fill_n(row, num_classes, off);
      if (numbers[k] >= 0 && numbers[k] < num_classes) row[static_cast<int64_t>(numbers[k])] = on;
    }
  }
  template <class T>
  void mark_elements(const View& in, const View& out, T on, T off, Arena& scratch) const {
    const bool is_list = out.full.rank == 1;
    auto* numbers = scratch.array<double>(static_cast<size_t>(in.shape.volume()));
    auto* own = scratch.array<double>(static_cast<size_t>(num_classes));
    for (int c = 0; c < num_classes; ++c) own[c] = c;
    auto* dense = scratch.array<std::byte>(static_cast<size_t>(in.bytes()));
    copy_to_dense(in, dense);
    convert_row(dense, in.dtype, numbers, DType::kFloat64, in.shape.volume());
    View n = View::window(numbers, DType::kFloat64, in.covers(), in.full), c = n;
    for (View* v : {&n, &c}) {
      v->shape = v->full = out.full;
      v->origin = widened(in.origin, 0, is_list);
    }
    n.strides = widened(n.strides, 0, is_list);
    c.strides = widened(Shape::filled(in.full.rank, 0), int64_t{sizeof(double)}, is_list);
    c.data = own;
    map<T, double, double>(out, Pick<T>{on, off}, n, c);
  }
  void mark(const View& in, const View& out, Arena& scratch) const {
    const int last = out.full.rank - 1;
    const bool by_rows =
        (place(last) == last || last == 0) && out.is_dense() && out.shape[last] == num_classes;
    with_size(size_of(dtype), [&](auto v) {
      using T = decltype(v);
      T on{}, off{};
      convert_row(&on_value, DType::kFloat32, &on, dtype, 1);
      convert_row(&off_value, DType::kFloat32, &off, dtype, 1);
      if (by_rows) mark_rows(in, out, on, off, scratch);
      else mark_elements(in, out, on, off, scratch);
    });
  }
  void run_cpu(Run& r) const { mark(r.inputs[0], r.outputs[0], r.scratch); }
  static void run_batch(BatchRun& r, std::span<const OneHot* const> ops) {
    for (size_t i = 0; i < ops.size(); ++i)
      ops[i]->mark(r.items[i].inputs[0], r.items[i].outputs[0], r.scratch);
  }
  static void run_gpu(GpuRun& r, std::span<const OneHot* const> items) {
    std::vector<Picks> all;
    for (size_t i = 0; i < items.size(); ++i) {
      const View &in = r.items[i].inputs[0], &out = r.items[i].outputs[0];
      const Strided from = Strided::of(in);
      const auto axes = [&](const Shape& strides, int64_t more) {
        return Axes(out.full, items[i]->widened(strides, more, out.full.rank == 1));
      };
      all.push_back({from.data + from.offset, axes(in.strides, 0),
                     axes(Shape::filled(in.full.rank, 0), 1), in.dtype, out.dtype,
                     items[i]->on_value, items[i]->off_value, out.as<std::byte>(),
                     size_of(out.dtype), out.shape.volume()});
    }
    run_each(r, std::span<const Picks>(all));
  }

  static std::vector<Case> cases() {
    return {
        {"num_classes=3", {"int32 [2, 0]"}, {"float32 [[0, 0, 1], [1, 0, 0]]"}},
        {"num_classes=2, dtype=types.UINT8, on_value=300, off_value=1",
         {"uint8 1"},
         {"uint8 [1, 255]"}},
        {"num_classes=3", {"int64 [1]"}, {"float32 [0, 1, 0]"}},
        {"num_classes=3, axis=-1", {"int64 [1]"}, {"float32 [[0, 1, 0]]"}},
        {"num_classes=2, axis=0, axis_name=\"C\"",
         {"int16 HW [[0, 1, -1]]"},
         {"float32 [[[1, 0, 0]], [[0, 1, 0]]]"}},
    };
  }
};

}  // namespace stoker::ops::values

STOKER_OPERATOR(stoker::ops::values::OneHot)
