// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/files_store.h"
#include "op/reader.h"
#include "op/type_of.h"
#include "stores/lmdb/datum.h"
#include "stores/lmdb/lmdb_files.h"

namespace stoker::ops::read {

namespace {

using stores::TensorProto;

// What the label is.
enum LabelType : int { kSingle = 0, kSparse = 1, kDense = 2, kWeighted = 3, kNone = 4 };

struct Caffe2Layout {
  int label_type = kSingle;
  int64_t num_labels = 1;
  std::vector<DType> additional;
  bool has_box = false, has_image = true;

  // By tensor, and by output.
  size_t label_at() const { return has_image; }
  size_t box_output() const { return label_at() + (label_type != kNone); }
  size_t additional_at() const { return box_output() + (label_type == kWeighted); }
  size_t tensors() const { return additional_at() + additional.size() + has_box; }
};

class Caffe2Store final : public FilesStore<stores::LmdbFiles> {
 public:
  Caffe2Store(const std::vector<std::string>& paths, Caffe2Layout layout)
      : FilesStore(paths), layout_(std::move(layout)) {}

  void read(Reading& r) const override {
    const std::vector<TensorProto> tensors = parsed(r, stores::parse_tensor_protos);
    // A box comes last, so that what is before it has to be known.
    if (tensors.size() < layout_.tensors() ||
        (layout_.has_box && tensors.size() > layout_.tensors()))
      throw SampleError("the value has " + std::to_string(tensors.size()) + " tensors; expected " +
                        std::to_string(layout_.tensors()) + ", as the arguments say");
    if (layout_.has_image) give_picture(r, tensors[0]);
    if (layout_.label_type != kNone) give_label(r, tensors);
    size_t next = layout_.additional_at(), k = layout_.box_output() + layout_.has_box;
    for (const DType dtype : layout_.additional) give_additional(r, k++, tensors[next++], dtype);
    if (layout_.has_box) {
      const std::vector<float> box = stores::tensor_floats(tensors[next], "the box");
      std::copy(
          box.begin(), box.end(),
          r.make(layout_.box_output(), {DType::kFloat32, {}, {static_cast<int64_t>(box.size())}})
              .as<float>());
    }
  }

 private:
  static Shape shape_of(const TensorProto& t) {
    const std::vector<int64_t> extents = t.shape();
    if (extents.size() > kMaxRank)
      throw SampleError("a tensor has " + std::to_string(extents.size()) + " axes; expected " +
                        std::to_string(kMaxRank) + " at most");
    Shape s;
    for (const int64_t e : extents) s.extent[s.rank++] = e;
    return s;
  }

  static void give_picture(Reading& r, const TensorProto& t) {
    if (t.dtype() != DType::kUint8)
      throw SampleError("the picture is of " + std::string(info(t.dtype()).name) +
                        "; expected bytes or uint8");
    if (t.is_string()) return r.share(0, t.strings[0]);
    const TensorType type{DType::kUint8, {}, shape_of(t)};
    if (t.type == TensorProto::Type::kByte) return r.share(0, type, t.bytes);
    stores::copy_tensor(t, r.make(0, type).data);
  }

  void give_label(Reading& r, const std::vector<TensorProto>& tensors) const {
    const size_t k = layout_.label_at();
    const TensorProto& t = tensors[k];
    const auto count = [](const auto& list) { return static_cast<int64_t>(list.size()); };
    if (layout_.label_type == kDense) {
      const std::vector<float> label = stores::tensor_floats(t, "the label");
      std::copy(label.begin(), label.end(),
                r.make(k, {DType::kFloat32, {}, {count(label)}}).as<float>());
      return;
    }
    const std::vector<int32_t> label = stores::tensor_ints(t, "the label");
    if (layout_.label_type == kSingle) {
      if (label.size() != 1)
        throw SampleError("the label has " + std::to_string(label.size()) +
                          " values; expected one, as the argument 'label_type' is 0");
      return r.give(k, {DType::kInt32, {}, {1}}, label[0]);
    }
    for (const int32_t x : label)
      if (x < 0 || x >= layout_.num_labels)
        throw SampleError("a label is " + std::to_string(x) + "; expected one below " +
                          std::to_string(layout_.num_labels) + ", the argument 'num_labels'");
    if (layout_.label_type == kSparse) {
      auto* to = r.make(k, {DType::kInt32, {}, {layout_.num_labels}}).as<int32_t>();
      std::fill(to, to + layout_.num_labels, 0);
      for (const int32_t x : label) to[x] = 1;
      return;
    }
    const std::vector<float> weights = stores::tensor_floats(tensors[k + 1], "the weights");
    if (weights.size() != label.size())
      throw SampleError("there are " + std::to_string(label.size()) + " labels and " +
                        std::to_string(weights.size()) + " weights");
    auto* to = r.make(k, {DType::kFloat32, {}, {layout_.num_labels}}).as<float>();
    std::fill(to, to + layout_.num_labels, 0.0F);
    for (size_t i = 0; i < label.size(); ++i) to[label[i]] = weights[i];
  }

  static void give_additional(Reading& r, size_t k, const TensorProto& t, DType dtype) {
    if (t.dtype() != dtype)
      throw SampleError("an additional tensor is of " + std::string(info(t.dtype()).name) +
                        "; expected " + info(dtype).name +
                        ": the argument 'additional_dtypes' says which type each has");
    stores::copy_tensor(t, r.make(k, {dtype, {}, shape_of(t)}).data);
  }

  Caffe2Layout layout_;
};

}  // namespace

struct Caffe2 : ReaderArguments {
  std::vector<std::string> path;
  bool image_available = true, bbox = false;
  int label_type = kSingle;
  int64_t num_labels = 1, additional_inputs = 0;
  std::optional<std::vector<std::string>> additional_dtypes;

  static constexpr auto kIgnored = kIgnoredReaderArguments;
  static constexpr const char* kSkip = "reads files; tests/readers has its samples";
  static constexpr auto schema = describe(
      "readers.caffe2",
      "Reads pictures and labels from LMDB databases of Caffe2, whose values are TensorProtos.\n\n"
      "The tensors of a value are the picture, the label, with label_type=3 the weights, then the "
      "additional ones, and then the box; no tensor stands for a picture or label that there is "
      "not. An encoded picture comes as its bytes, of shape (size,), "
      "and pixels in their own shape. The samples are in the order of their keys. A database that "
      "cannot be read or is damaged is an error when the pipeline is built; a damaged value fails "
      "its sample.",
      ports(),
      ports(
          {.name = "image",
           .help = "The encoded picture or its pixels, uint8.",
           .when = "image_available"},
          {.name = "label", .help = "The label, as label_type says.", .when = "label_type!=4"},
          {.name = "bbox", .help = "The box, float32.", .when = "bbox"},
          {.name = "additional", .help = "An additional tensor.", .for_each = "additional_inputs"}),
      arg(&Caffe2::path, "path", "The databases: folders with data.mdb, or files.", kRequired),
      arg(&Caffe2::image_available, "image_available",
          "Whether the values hold pictures. If not, their first tensor is the label."),
      arg(&Caffe2::label_type, "label_type",
          "0: one label, int32 of shape (1,); 1: a list of labels, which becomes int32 of shape "
          "(num_labels,) with 1 for those in the list; 2: float32 values as they are; 3: a list of "
          "labels and one of weights, which become float32 of shape (num_labels,); 4: none.",
          between(0, 4)),
      arg(&Caffe2::num_labels, "num_labels", "The number of labels there are.", at_least(1)),
      arg(&Caffe2::additional_inputs, "additional_inputs",
          "The number of additional tensors, each of which is an output.", at_least(0)),
      arg(&Caffe2::additional_dtypes, "additional_dtypes",
          "The types of additional tensors; default: float32."),
      arg(&Caffe2::bbox, "bbox", "Whether a box comes last."), kReaderArguments);

  Caffe2Layout layout() const {
    Caffe2Layout l{label_type, num_labels, {}, bbox, image_available};
    for (int64_t i = 0; i < additional_inputs; ++i)
      l.additional.push_back(additional_dtype(static_cast<size_t>(i)));
    return l;
  }
  DType additional_dtype(size_t i) const {
    if (!additional_dtypes) return DType::kFloat32;
    const std::string& name = (*additional_dtypes)[additional_dtypes->size() == 1 ? 0 : i];
    const DType dtype = dtype_named(name);
    require(dtype != DType::kNone, "argument 'additional_dtypes' names '", name,
            "', which is no type");
    return dtype;
  }

  void check(Checker& c) const {
    check_reader(*this);
    require(!path.empty(), "argument 'path' names no database");
    const auto types = static_cast<int64_t>(additional_dtypes ? additional_dtypes->size() : 1);
    require(types > 0 && (types == 1 || types == additional_inputs),
            "argument 'additional_dtypes' has ", types,
            " types; expected one, or one for each of the ", additional_inputs,
            " additional tensors");
    require(layout().tensors() > 0,
            "there are neither pictures nor labels nor other tensors: nothing is left");
    TensorType any{DType::kUint8, {}, {}};
    any.shape.rank = -1;
    if (image_available) c.out(any);
    const bool is_float = label_type == kDense || label_type == kWeighted;
    const int64_t extent = label_type == kSingle ? 1 : label_type == kDense ? -1 : num_labels;
    if (label_type != kNone) c.out({is_float ? DType::kFloat32 : DType::kInt32, {}, {extent}});
    if (bbox) c.out({DType::kFloat32, {}, {-1}});
    for (const DType dtype : layout().additional) {
      any.dtype = dtype;
      c.out(any);
    }
  }

  std::unique_ptr<SampleStore> open() const {
    return stores::while_opening([&] { return std::make_unique<Caffe2Store>(path, layout()); });
  }
  io::OrderSpec order(const SampleStore& s) const { return order_of(*this, s); }
};

}  // namespace stoker::ops::read

STOKER_OPERATOR(stoker::ops::read::Caffe2)
