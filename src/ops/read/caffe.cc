// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/op.h"
#include "op/reader.h"
#include "stores/datum.h"
#include "stores/lmdb_files.h"

namespace stoker::ops::read {

namespace {

using stores::ByteSpan;
using stores::Datum;

class CaffeStore final : public SampleStore {
 public:
  CaffeStore(const std::vector<std::string>& paths, DType dtype, bool has_image, bool has_label)
      : databases_(paths), dtype_(dtype), has_image_(has_image), has_label_(has_label) {}

  int64_t size() const override { return databases_.size(); }
  std::string name(int64_t i) const override { return databases_.name(i); }
  uint64_t fingerprint() const override { return databases_.fingerprint(); }
  std::vector<int64_t> block_begins() const override { return databases_.begins(); }
  io::Place place(int64_t i) const override { return io::Place::at(databases_.extent(i)); }

  void read(Reading& r) const override {
    const ByteSpan value = databases_.value(r.index, r.parts[0]);
    const Datum d = databases_.parsed(r.index, value, stores::parse_datum);
    if (has_label_) r.give(has_image_ ? 1 : 0, {DType::kInt32, {}, {1}}, d.label);
    if (!has_image_) return;
    if (d.encoded) {
      if (dtype_ != DType::kUint8)
        throw SampleError(
            "the Datum holds an encoded picture; expected pixels, as the argument "
            "'dtype' is " +
            std::string(info(dtype_).name));
      return r.share(0, d.data);
    }
    const Shape shape{d.channels, d.height, d.width};
    if (dtype_ == DType::kUint8) {
      if (!d.floats.empty())
        throw SampleError("the Datum holds pixels of float32: give the argument dtype=types.FLOAT");
      return r.share(0, {DType::kUint8, {}, shape}, d.data);
    }
    auto* to = r.make(0, {DType::kFloat32, {}, shape}).as<float>();
    if (d.floats.empty()) std::copy(d.data.begin(), d.data.end(), to);
    else std::copy(d.floats.begin(), d.floats.end(), to);
  }

 private:
  stores::LmdbFiles databases_;
  DType dtype_;
  bool has_image_, has_label_;
};

}  // namespace

struct Caffe : ReaderArguments {
  std::vector<std::string> path;
  bool image_available = true, label_available = true;
  DType dtype = DType::kUint8;

  static constexpr auto kIgnored = kIgnoredReaderArguments;
  static constexpr const char* kSkip = "reads files; tests/readers has its samples";
  static constexpr auto schema = describe(
      "readers.caffe",
      "Reads pictures and labels from LMDB databases of Caffe, whose values are a Datum.\n\n"
      "An encoded picture comes as its bytes, of shape (size,). Pixels come as they are stored, of "
      "shape (channels, height, width), and Caffe stores blue first. The samples are in the order "
      "of "
      "their keys. A database that cannot be read or is damaged is an error when the pipeline is "
      "built; a damaged value fails its sample.",
      ports(),
      ports({.name = "image",
             .help = "The encoded picture or its pixels.",
             .when = "image_available"},
            {.name = "label",
             .help = "The label, int32 of shape (1,); 0 where there is none.",
             .when = "label_available"}),
      arg(&Caffe::path, "path", "The databases: folders with data.mdb, or files.", kRequired),
      arg(&Caffe::image_available, "image_available", "Whether pictures are an output."),
      arg(&Caffe::label_available, "label_available", "Whether labels are an output."),
      arg(&Caffe::dtype, "dtype",
          "The type of pixels: uint8, or float32 for values that hold float_data, where pixels of "
          "uint8 are converted."),
      kReaderArguments);

  void check(Checker& c) const {
    check_reader(*this);
    require(!path.empty(), "argument 'path' names no database");
    require(dtype == DType::kUint8 || dtype == DType::kFloat32, "argument 'dtype' is ",
            info(dtype).name, "; expected uint8 or float32");
    TensorType image{dtype, {}, {}};
    image.shape.rank = -1;
    if (image_available) c.out(image);
    if (label_available) c.out({DType::kInt32, {}, {1}});
  }

  std::unique_ptr<SampleStore> open() const {
    return stores::while_opening([&] {
      return std::make_unique<CaffeStore>(path, dtype, image_available, label_available);
    });
  }
  io::OrderSpec order(const SampleStore& s) const { return order_of(*this, s); }
};

}  // namespace stoker::ops::read

STOKER_OPERATOR(stoker::ops::read::Caffe)
