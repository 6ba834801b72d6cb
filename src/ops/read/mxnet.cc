// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>

#include "op/reader.h"
#include "op/type_of.h"
#include "stores/records/record_files.h"
#include "stores/records/recordio.h"

namespace stoker::ops::read {

namespace {

using stores::ByteSpan;

class MxnetStore final : public SampleStore {
 public:
  MxnetStore(const std::vector<std::string>& paths, const std::vector<std::string>& indexes) {
    for (size_t i = 0; i < paths.size(); ++i) {
      std::shared_ptr<const io::RecordTable> table;
      if (!indexes.empty()) table = given_table(paths[i], indexes[i]);
      if (!table) table = stores::record_table_of(paths[i], "recordio 1", stores::find_recordio);
      files_.add(paths[i], table);
    }
    fingerprint_ = files_.fingerprint();
  }

  int64_t size() const override { return files_.size(); }
  std::string name(int64_t i) const override { return files_.name(i); }
  uint64_t fingerprint() const override { return fingerprint_; }
  std::string warning() const override { return left_out_; }
  std::vector<int64_t> block_begins() const override { return files_.begins(); }
  io::Place place(int64_t i) const override { return io::Place::at(files_.extent(i)); }

  void read(Reading& r) const override {
    const auto at = files_.at(r.index);
    std::vector<uint8_t> joined;
    const ByteSpan payload =
        stores::recordio_payload(r.parts[0], files_.path(at.file), at.place.offset, joined);
    const stores::PictureRecord record = stores::counted_from(
        at.place.offset, [&] { return stores::parse_picture_record(payload); });
    const auto labels = static_cast<int64_t>(record.labels.size() / sizeof(float));
    std::memcpy(r.make(1, {DType::kFloat32, {}, {labels}}).data, record.labels.data(),
                record.labels.size());
    if (r.asks(1)) annotate(r, {r.outputs[1].as<const float>(), static_cast<size_t>(labels)});
    if (joined.empty()) return r.share(0, record.picture);
    const auto size = static_cast<int64_t>(record.picture.size());
    const View& to = r.make(0, {DType::kUint8, {}, {size}});
    if (size > 0) std::memcpy(to.data, record.picture.data(), record.picture.size());
  }

 private:
  // Labels of detection may begin with 4, the numbers of each object, and the picture's width and
  // height. Their boxes, behind the class of each object, are parts of these.
  static void annotate(Reading& r, std::span<const float> labels) {
    constexpr size_t kHead = 4, kLeast = 5;  // numbers of an object
    if (labels.size() < kHead + kLeast || labels[0] != kHead || !(labels[1] >= kLeast)) return;
    const auto each = static_cast<size_t>(std::min(labels[1], 1e6F));
    const std::span<const float> objects = labels.subspan(kHead);
    const auto is_part = [](float x) { return x >= 0 && x <= 1; };
    bool is_detection = objects.size() % each == 0;
    for (size_t k = 0; k < objects.size(); ++k)
      if (const size_t at = k % each; at >= 1 && at <= 4) is_detection &= is_part(objects[k]);
    for (const float extent : labels.subspan(2, 2))
      is_detection &= extent >= 1 && extent <= 1 << 24 && extent == std::trunc(extent);
    if (is_detection)
      r.annotated = {0, static_cast<int64_t>(labels[3]), static_cast<int64_t>(labels[2]), false,
                     true};
  }

  // The user's index, or null where it does not fit the file.
  std::shared_ptr<const io::RecordTable> given_table(const std::string& path,
                                                     const std::string& index) {
    const auto file = io::open(path);
    std::vector<stores::RecordPlace> places =
        stores::parse_recordio_index(io::text_of(index), index, file->size());
    if (places.empty() && file->size() > 0) return nullptr;
    for (const stores::RecordPlace p : places)
      if (p.size < kHead) return nullptr;
    const auto fits = [&](stores::RecordPlace p) {
      io::ByteBuffer head;
      file->read(head, p.offset, kHead);
      constexpr uint8_t kMagic[] = {0x0a, 0x23, 0xd7, 0xce};
      return std::memcmp(head.data(), kMagic, sizeof kMagic) == 0;
    };
    if (!stores::most_fit(places, fits)) return nullptr;
    if (!places.empty() && left_out_.empty() &&
        (places[0].offset > 0 || holds_more(*file, places.back())))
      left_out_ = "the index '" + index + "' leaves out records of '" + path +
                  "', which are not read. Without index_path all are";
    return std::make_shared<const io::RecordTable>(std::move(places));
  }

  static bool holds_more(const io::Object& file, stores::RecordPlace p) {
    io::ByteBuffer head;
    file.read(head, p.offset, kHead);
    return stores::holds_more({reinterpret_cast<const uint8_t*>(head.data()), head.size()}, p.size);
  }

  static constexpr int64_t kHead = 8;  // of a part
  stores::RecordFiles files_;
  std::string left_out_;  // what an index does not name, in words
  uint64_t fingerprint_ = 0;
};

}  // namespace

struct Mxnet : ReaderArguments {
  std::vector<std::string> path;
  std::optional<std::vector<std::string>> index_path;

  static constexpr auto kIgnored = kIgnoredReaderArguments;
  static constexpr const char* kSkip = "reads files; tests/readers has its samples";
  static constexpr auto schema = describe(
      "readers.mxnet",
      "Reads pictures and their labels from RecordIO files, as MXNet writes them.\n\n"
      "Records of several parts are joined. A file that is not there is an error when the pipeline "
      "is built; damage fails the sample, and where the next record cannot be found, the rest of "
      "the file is one bad sample.",
      ports(),
      ports({.name = "picture", .help = "The picture's bytes, uint8 of shape (size,)."},
            {.name = "label", .help = "The label or the labels, float32 of shape (labels,)."}),
      arg(&Mxnet::path, "path", "The files, *.rec.", kRequired),
      arg(&Mxnet::index_path, "index_path",
          "Indexes of the files, *.idx. The records come in the order of their offsets. Without "
          "indexes, and where one does not fit its file, the records are looked for once, and "
          "their "
          "places are kept beside the file."),
      kReaderArguments);

  void check(Checker& c) const {
    check_reader(*this);
    require(!path.empty(), "argument 'path' names no file");
    require(!index_path || index_path->size() == path.size(), "argument 'index_path' has ",
            index_path ? index_path->size() : 0, " files; expected one for each of the ",
            path.size(), " files of 'path'");
    c.out({DType::kUint8, {}, {-1}});
    c.out({DType::kFloat32, {}, {-1}});
  }

  std::unique_ptr<SampleStore> open() const {
    return stores::while_opening([&] {
      return std::make_unique<MxnetStore>(path, index_path.value_or(std::vector<std::string>{}));
    });
  }
  io::OrderSpec order(const SampleStore& s) const { return order_of(*this, s); }
};

}  // namespace stoker::ops::read

STOKER_OPERATOR(stoker::ops::read::Mxnet)
