// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/files_store.h"
#include "op/reader.h"
#include "op/type_of.h"
#include "stores/lmdb/datum.h"
#include "stores/lmdb/lmdb_files.h"

namespace stoker::ops::read {

namespace {

using stores::Datum;

class CaffeStore final : public FilesStore<stores::LmdbFiles> {
 public:
  CaffeStore(const std::vector<std::string>& paths, DType dtype, bool has_image, bool has_label)
      : FilesStore(paths), dtype_(dtype), has_image_(has_image), has_label_(has_label) {}

  void read(Reading& r) const override {
    const Datum d = parsed(r, stores::parse_datum);
    if (has_label_ && !d.has_label)
      throw SampleError("the Datum has no label; label_available=False does without");
    if (has_image_ && !d.has_pixels)
      throw SampleError("the Datum has no data; image_available=False does without");
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
      "An encoded picture comes as its bytes, of shape (size,); one without extents counts as "
      "encoded also where the Datum does not say so. Pixels come as they are stored, of "
      "shape (channels, height, width), and Caffe stores blue first. The samples are in the order "
      "of "
      "their keys. A database that cannot be read or is damaged is an error when the pipeline is "
      "built; a damaged value, one that "
      "is no Datum, and one without a label or data that is asked for fail their samples.",
      ports(),
      ports(
          {.name = "image",
           .help = "The encoded picture or its pixels.",
           .when = "image_available"},
          {.name = "label", .help = "The label, int32 of shape (1,).", .when = "label_available"}),
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
