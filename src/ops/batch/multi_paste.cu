// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "kernels/elements/boxes.h"
#include "kernels/fused_device/value.h"
#include "op/arguments/dtype_argument.h"
#include "op/loops/gpu_each.cuh"
#include "op/type_of.h"
#include "op/window/pasted_regions.h"

namespace stoker::ops::batch {

struct MultiPaste : DtypeArgument, PastedArguments {
  std::optional<Small<int>> in_ids, output_size;

  struct DeviceRegion {
    const std::byte* from;  // at full position 0
    int64_t stride[4];  // of frames, rows, columns and channels
    PastedRegion region;
  };
  struct Element {
    const DeviceRegion* regions;
    int count;
    int64_t height, width, channels;
    DType in, out;
    int size;
    std::byte* to;
    int64_t pieces;

    STOKER_HD void run(int64_t k) const {
      const int64_t c = k % channels, x = k / channels % width, y = k / channels / width % height,
                    f = k / channels / width / height;
      for (int i = count - 1; i >= 0; --i) {  // what is pasted last lies on top
        const PastedRegion& p = regions[i].region;
        const int64_t row = y - p.to[0], column = x - p.to[1];
        if (row < 0 || row >= p.extent[0] || column < 0 || column >= p.extent[1]) continue;
        const int64_t* s = regions[i].stride;
        const std::byte* from = regions[i].from + f * s[0] + (row + p.from[0]) * s[1] +
                                (column + p.from[1]) * s[2] + c * s[3];
        return store_value(convert_value(load_value(from, in), out), to + k * size);
      }
      for (int b = 0; b < size; ++b) to[k * size + b] = std::byte{0};
    }
  };

  static constexpr Classes kClasses = Classes::kKept;
  static constexpr auto schema = describe(
      "multi_paste",
      "Puts regions of images onto a black canvas, one after the other.\n\n"
      "With in_ids the images are samples of the batch, which in_ids counts from 0 without those "
      "that failed before; then there is one input. Else each input gives a region of its own "
      "sample. Images of one output have as many channels and frames as each other. The output's "
      "source_info names the samples of all regions, with ';' between them.",
      ports({.name = "images",
             .help = "Images or sequences, all of one dtype.",
             .layouts = "HWC, FHWC",
             .repeats = true}),
      ports({.name = "output", .help = "The canvas."}), kDtypeArgument,
      arg(&MultiPaste::in_ids, "in_ids", "The sample of each region.", at_least(0), kPerSample),
      kPastedArguments,
      arg(&MultiPaste::output_size, "output_size",
          "Height and width of the output; default: those of the sample in the first input. A "
          "third "
          "number, the channels, is not used: their number is that of the images.",
          at_least(0), kPerSample));

  mutable bool sees_others_ = false;

  static std::array<int64_t, 2> plane(const Shape& s) { return {s[s.rank - 3], s[s.rank - 2]}; }
  // The canvas of images like these, for the sample whose first input is the `own` one.
  TensorType canvas(TensorType own, std::span<const Shape> images) const {
    for (size_t i = 0; i < images.size(); ++i) {
      const Shape& s = images[i];
      const bool fits = s.rank == images[0].rank && s[s.rank - 1] == images[0][s.rank - 1] &&
                        (s.rank == 3 || s[0] == images[0][0]);
      require(fits, "image ", i, " has the shape ", s, ", and image 0 ", images[0]);
    }
    const int rank = own.shape.rank;
    if (!images.empty()) {
      own.shape[rank - 1] = images[0][rank - 1];
      if (rank == 4) own.shape[0] = images[0][0];
    }
    if (output_size) {
      check_size();
      for (int a = 0; a < 2; ++a) own.shape[rank - 3 + a] = (*output_size)[static_cast<size_t>(a)];
    }
    own.dtype = dtype.value_or(own.dtype);
    return own;
  }
  void check_size() const {
    require_count("argument 'output_size'", output_size->size(), {2, 3},
                  "height and width, and perhaps the channels");
  }
  std::vector<PastedRegion> placed(std::span<const Shape> images, const Shape& out) const {
    std::vector<std::array<int64_t, 2>> planes;
    for (const Shape& s : images) planes.push_back(plane(s));
    return regions(planes, plane(out));
  }

  std::optional<std::vector<int>> joined(size_t /*place*/, size_t /*count*/) const {
    if (!in_ids) return {};
    return std::vector<int>(in_ids->begin(), in_ids->end());
  }
  bool sees_batch() const { return sees_others_; }

  void check(Checker& c) const {
    PastedArguments::check(c);
    const bool sees_others = sees_others_ = in_ids || c.is_computed("in_ids");
    require(!sees_others || c.inputs.size() == 1, "argument 'in_ids' excludes several inputs");
    if (!c.is_computed("in_ids")) check_counts(in_ids ? in_ids->size() : c.inputs.size());
    if (output_size) check_size();
    TensorType t = c.in();
    for (const TensorType& other : c.inputs)
      require(other.dtype == t.dtype && other.layout == t.layout, "the inputs are ", t.str(),
              " and ", other.str(), ", expected one dtype and layout");
    const int rank = t.shape.rank;
    for (int a = 0; a < 2; ++a) {
      if (c.is_computed("output_size")) t.shape[rank - 3 + a] = -1;
      else if (output_size) t.shape[rank - 3 + a] = (*output_size)[static_cast<size_t>(a)];
    }
    if (sees_others) t.shape[rank - 1] = -1;
    if (sees_others && rank == 4) t.shape[0] = -1;
    t.dtype = dtype.value_or(t.dtype);
    c.out(t);
  }

  // The output, if all regions fit.
  TensorType result(const TensorType& own, std::span<const Shape> images) const {
    TensorType out = canvas(own, images);
    (void)placed(images, out.shape);
    return out;
  }
  void infer(Inference& i) const {
    std::vector<Shape> images;
    for (const TensorType& t : i.inputs) images.push_back(t.shape);
    i.out(result(i.inputs[0], images));
  }
  void run_cpu(Run& r) const {
    const View& out = r.outputs[0];
    const TensorType whole = out.whole();
    const View all = View::dense(r.scratch.allocate(static_cast<size_t>(out.full.volume()) *
                                                    static_cast<size_t>(size_of(out.dtype))),
                                 whole.dtype, whole.shape, whole.layout);
    paste(r.inputs, all, r.scratch);
    copy_window(all, out);
  }

  static void infer_batch(BatchInference& b, std::span<const MultiPaste* const> ops) {
    for (size_t i = 0; i < ops.size(); ++i) {
      std::vector<Shape> images;
      for (int id : *ops[i]->in_ids) {
        require(id < static_cast<int>(b.items.size()), "argument 'in_ids' has ", id,
                ", and the batch has ", b.items.size(), " samples");
        images.push_back(b.items[static_cast<size_t>(id)].inputs[0].shape);
      }
      b.items[i].outputs = {ops[i]->result(b.items[i].inputs[0], images)};
    }
  }
  template <class Items>
  std::vector<View> images(const Items& items, size_t i) const {
    if (!in_ids) return {items[i].inputs.begin(), items[i].inputs.end()};
    std::vector<View> all;
    for (int id : *in_ids) all.push_back(items[static_cast<size_t>(id)].inputs[0]);
    return all;
  }
  static void run_batch(BatchRun& r, std::span<const MultiPaste* const> ops) {
    for (size_t i = 0; i < ops.size(); ++i)
      ops[i]->paste(ops[i]->images(r.items, i), r.items[i].outputs[0], r.scratch);
  }

  void paste(std::span<const View> images, const View& out, Arena& scratch) const {
    std::memset(out.data, 0, static_cast<size_t>(out.bytes()));
    std::vector<Shape> shapes;
    for (const View& v : images) shapes.push_back(v.full);
    const std::vector<PastedRegion> parts = placed(shapes, out.full);
    const int y = out.full.rank - 3, x = y + 1;
    for (size_t k = 0; k < parts.size(); ++k) {
      const PastedRegion& p = parts[k];
      const View in = with_dense_rows(images[k], x, scratch);
      const int64_t values = p.extent[1] * out.full[x + 1];
      for (int64_t row = 0; row < p.extent[0] * (y ? out.full[0] : 1); ++row) {
        const int64_t f = row / p.extent[0], line = row % p.extent[0];
        const auto at = [&](const View& v, const int64_t* begin) {
          return v.as<std::byte>() + (y ? f * v.strides[0] : 0) + (begin[0] + line) * v.strides[y] +
                 begin[1] * v.strides[x];
        };
        const auto bytes = static_cast<size_t>(values * size_of(in.dtype));
        if (in.dtype == out.dtype) std::memcpy(at(out, p.to), at(in, p.from), bytes);
        else convert_row(at(in, p.from), in.dtype, at(out, p.to), out.dtype, values);
      }
    }
  }

  static void run_gpu(GpuRun& r, std::span<const MultiPaste* const> items) {
    std::vector<Element> all;
    for (size_t i = 0; i < items.size(); ++i) {
      const View& out = r.items[i].outputs[0];
      const std::vector<View> images = items[i]->images(r.items, i);
      std::vector<Shape> shapes;
      for (const View& v : images) shapes.push_back(v.full);
      const std::vector<PastedRegion> parts = items[i]->placed(shapes, out.full);
      const int rank = out.full.rank;
      std::vector<DeviceRegion> regions;
      for (size_t k = 0; k < parts.size(); ++k) {
        const Strided in = Strided::of(images[k]);
        DeviceRegion d{in.data + in.offset, {}, parts[k]};
        for (int a = 0; a < rank; ++a) d.stride[4 - rank + a] = in.stride[a];
        regions.push_back(d);
      }
      all.push_back({r.put(std::span<const DeviceRegion>(regions)), static_cast<int>(parts.size()),
                     out.full[rank - 3], out.full[rank - 2], out.full[rank - 1],
                     r.items[0].inputs[0].dtype, out.dtype, size_of(out.dtype), out.as<std::byte>(),
                     out.shape.volume()});
    }
    run_each(r, std::span<const Element>(all));
  }

  static std::vector<Case> cases() {
    return {
        {"shapes_rel=[0.5, 0.5]",
         {"uint8 HWC [[[1], [2]], [[3], [4]]]"},
         {"uint8 [[[1], [0]], [[0], [0]]]"}},
        {"in_anchors_rel=[0.5, 0.5]",
         {"uint8 HWC [[[1], [2]], [[3], [4]]]"},
         {"uint8 [[[4], [0]], [[0], [0]]]"}},
        {"in_ids=[0, 0], in_anchors_rel=[0.0, 0.0, 0.5, 0.0], shapes=[1, 1, 1, 1], "
         "out_anchors_rel=[0.0, 0.0, 0.0, 0.5], dtype=types.FLOAT",
         {"uint8 HWC [[[1], [2]], [[3], [4]]]"},
         {"float32 [[[1], [3]], [[0], [0]]]"}},
        {"", {"uint8 HWC [[[1, 2]]]"}, {"uint8 [[[1, 2]]]"}},
        {"output_size=[2, 3], out_anchors=[0, 1]",
         {"uint8 HWC [[[1], [2]], [[3], [4]]]"},
         {"uint8 [[[0], [1], [2]], [[0], [3], [4]]]"}},
        {"shapes=[1, 2, 1, 1], out_anchors=[0, 0, 1, 1]",
         {"int16 HWC [[[1], [2]], [[3], [4]]]", "int16 HWC [[[5], [6]], [[7], [8]]]"},
         {"int16 [[[1], [2]], [[0], [5]]]"}},
    };
  }
};

}  // namespace stoker::ops::batch

STOKER_OPERATOR(stoker::ops::batch::MultiPaste)
