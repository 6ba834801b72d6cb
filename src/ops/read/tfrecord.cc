// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/records/tfrecord.h"

#include <algorithm>
#include <limits>

#include "op/reader.h"
#include "op/type_of.h"
#include "stores/inflated_file.h"
#include "stores/records/example.h"
#include "stores/records/record_files.h"

namespace stoker::ops::read {

namespace {

using stores::ByteSpan;
using stores::FeatureSpec;
using stores::RecordPlace;

enum class ShardKind : uint8_t { kPlain, kGzip, kZlib };

// Note [Compressed shards]
// A shard's first bytes tell what it is: a length with its checksum, or the header of gzip or zlib.
// A compressed shard is a block, and its index counts bytes of what it holds.
ShardKind kind_of(const stores::Ranges& file) {
  uint8_t head[stores::kTfrecordHead] = {};
  const auto n = static_cast<size_t>(std::min<int64_t>(file.size(), sizeof head));
  file.read(0, {head, n});
  if (n == sizeof head && stores::tfrecord_length(head)) return ShardKind::kPlain;
  constexpr uint8_t kDeflate = 8, kGzipMagic[] = {0x1f, 0x8b};
  if (n > 2 && head[0] == kGzipMagic[0] && head[1] == kGzipMagic[1] && head[2] == kDeflate)
    return ShardKind::kGzip;
  if (n > 2 && (head[0] & 0x0f) == kDeflate && (head[0] * 256 + head[1]) % 31 == 0)
    return ShardKind::kZlib;
  return ShardKind::kPlain;
}

Compression compression_of(ShardKind kind) {
  return kind == ShardKind::kGzip ? Compression::kGzip : Compression::kZlib;
}

// Records that are looked at for features that none of them has, and the largest of these.
constexpr int64_t kRecordsLookedAt = 8, kMostBytes = int64_t{1} << 26;

// The places of all records in a compressed shard, as Note [Damaged files]
// (stores/records/tfrecord.h) says. Nothing of it stays in memory.
std::vector<RecordPlace> find_inflated(stores::InflatingFile& from) {
  constexpr int64_t kTail = stores::kTfrecordFraming - stores::kTfrecordHead, kAll = INT64_MAX;
  std::vector<RecordPlace> places;
  int64_t begin = 0;
  bool is_whole = true;
  try {
    while (is_whole) {
      uint8_t head[stores::kTfrecordHead];
      if (from.read(head) == 0) break;
      is_whole = false;
      const bool is_head = from.at() - begin == stores::kTfrecordHead;
      if (const auto length = is_head ? stores::tfrecord_length(head) : std::nullopt) {
        const int64_t rest = *length > static_cast<uint64_t>(kAll - kTail)
                                 ? kAll
                                 : static_cast<int64_t>(*length) + kTail;
        is_whole = from.skip(rest) == rest;
      } else {
        from.skip(kAll);
      }
      places.push_back({begin, from.at() - begin});
      begin = from.at();
    }
  } catch (const SampleError&) {  // NOLINT(bugprone-empty-catch): reading the record throws it
    // What is behind the damage is one bad sample, which wants a byte that is not there.
    places.push_back({begin, from.at() - begin + 1});
  }
  return places;
}

class TfrecordStore final : public SampleStore {
 public:
  struct Options {
    std::vector<std::string> paths, indexes;
    std::vector<FeatureSpec> features;
    bool verify;
  };

  explicit TfrecordStore(Options options) : options_(std::move(options)) {
    for (size_t i = 0; i < options_.paths.size(); ++i) add_shard(i);
    fingerprint_ = files_.fingerprint();
  }

  int64_t size() const override { return files_.size(); }
  std::string name(int64_t i) const override { return files_.name(i); }
  uint64_t fingerprint() const override { return fingerprint_; }
  std::vector<int64_t> block_begins() const override { return files_.begins(); }
  bool is_read_by_block() const override { return has_compressed_; }

  std::string warning() const override {
    if (!left_out_.empty()) return left_out_;
    std::vector<std::string> unknown;
    for (const FeatureSpec& spec : options_.features) unknown.push_back(spec.name);
    std::string first;  // the names in the first record
    for (int64_t i = 0; i < std::min<int64_t>(size(), kRecordsLookedAt); ++i) try {
        if (kinds_[files_.at(i).file] != ShardKind::kPlain) return "";
        const io::Extent extent = files_.extent(i);
        if (extent.length > kMostBytes) return "";
        io::ByteBuffer bytes;
        extent.object->read(bytes, extent.offset, extent.length);
        const ByteSpan record(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
        const stores::Example example(
            stores::tfrecord_payload(record, extent.object->path(), extent.offset, false));
        std::erase_if(unknown, [&](const std::string& name) {
          return example.feature(name) || example.feature_list(name);
        });
        if (i == 0) first = example.names();
      } catch (const SampleError&) {  // its sample will fail, and say so
        return "";
      }
    if (unknown.empty() || first.empty()) return "";
    return "the first records have no feature '" + unknown[0] + "', but " + first;
  }

  io::Place place(int64_t i) const override {
    const size_t shard = files_.at(i).file;
    if (kinds_[shard] != ShardKind::kPlain) return io::Place::in_block(static_cast<int64_t>(shard));
    return io::Place::at(files_.extent(i));
  }
  size_t block_bytes(int64_t block) const override {
    return stores::InflatedFile::memory(inflated_size(static_cast<size_t>(block)));
  }
  std::shared_ptr<const io::Block> load(int64_t block) const override {
    const auto shard = static_cast<size_t>(block);
    return std::make_shared<const stores::InflatedFile>(
        io::open(files_.path(shard)), compression_of(kinds_[shard]), inflated_size(shard));
  }
  void find(int64_t i, const io::Block& block, std::vector<io::Part>& parts) const override {
    const RecordPlace p = files_.at(i).place;
    parts.push_back(static_cast<const stores::InflatedFile&>(block).part(p.offset, p.size));
  }

  void read(Reading& r) const override {
    const auto at = files_.at(r.index);
    const ByteSpan payload = stores::tfrecord_payload(r.parts[0], files_.path(at.file),
                                                      at.place.offset, options_.verify);
    stores::counted_from(at.place.offset + stores::kTfrecordHead, [&] {
      const stores::Example example(payload);
      size_t k = 0;
      for (const FeatureSpec& spec : options_.features) k = give(r, k, spec, example);
      annotate(r, example);
    });
  }

 private:
  void add_shard(size_t i) {
    const std::string& path = options_.paths[i];
    const auto file = io::open(path);
    const ShardKind kind = kind_of(stores::ObjectRanges(file));
    kinds_.push_back(kind);
    has_compressed_ = has_compressed_ || kind != ShardKind::kPlain;
    if (kind == ShardKind::kPlain) {
      std::shared_ptr<const io::RecordTable> table;
      if (!options_.indexes.empty()) table = given_table(*file, options_.indexes[i]);
      if (!table) table = stores::record_table_of(path, "tfrecord 1", stores::find_tfrecords);
      files_.add(path, table);
      return;
    }
    files_.add(path,
               stores::record_table_of(path, "tfrecord compressed 1", [&](const stores::Ranges&) {
                 stores::InflatingFile from(file, compression_of(kind));
                 return find_inflated(from);
               }));
  }

  // The user's index, or null where it does not fit the file.
  std::shared_ptr<const io::RecordTable> given_table(const io::Object& file,
                                                     const std::string& path) {
    std::vector<RecordPlace> places = stores::parse_tfrecord_index(io::text_of(path), path);
    if (places.empty() && file.size() > 0) return nullptr;
    int64_t end = 0, all = 0;
    for (const RecordPlace p : places) {
      if (p.offset < end || p.size < stores::kTfrecordFraming || p.offset > file.size() ||
          p.size > file.size() - p.offset)
        return nullptr;
      end = p.offset + p.size;
      all += p.size;
    }
    // Three records tell whether it is an index of this file. One of them may be damaged.
    const auto fits = [&](RecordPlace p) {
      io::ByteBuffer head;
      file.read(head, p.offset, stores::kTfrecordHead);
      const ByteSpan bytes(reinterpret_cast<const uint8_t*>(head.data()), head.size());
      const std::optional<uint64_t> length = stores::tfrecord_length(bytes);
      return length && *length + stores::kTfrecordFraming == static_cast<uint64_t>(p.size);
    };
    if (!stores::most_fit(places, fits)) return nullptr;
    if (all < file.size() && left_out_.empty())
      left_out_ = "the index '" + path + "' leaves out " + std::to_string(file.size() - all) +
                  " of the " + std::to_string(file.size()) + " bytes of '" + file.path() +
                  "': records there are not read. Without index_path all are";
    return std::make_shared<const io::RecordTable>(std::move(places));
  }

  // Anyone may have written the table.
  size_t inflated_size(size_t shard) const {
    const std::span<const RecordPlace> places = files_.places(shard);
    if (places.empty()) return 0;
    const auto [offset, size] = places.back();
    if (offset < 0 || size < 0 || size > INT64_MAX - offset)
      stores::refuse(files_.path(shard), offset,
                     "the index has a record of " + std::to_string(size) + " bytes here");
    return static_cast<size_t>(std::max<int64_t>(offset + size, 1));
  }

  // What the record says of its picture, by the names that TensorFlow's tools for detection use.
  // Their boxes are parts of the extents.
  void annotate(Reading& r, const stores::Example& example) const {
    std::optional<size_t> picture;
    bool has_places = false, has_masks = false;
    size_t k = 0;
    for (const FeatureSpec& spec : options_.features) {
      const auto is_asked = [&](const char* word) {
        return spec.name.find(word) != std::string::npos && r.asks(k);
      };
      if (spec.name == "image/encoded") picture = k;
      has_masks |= is_asked("/mask");
      has_places |= is_asked("/bbox/");
      k += static_cast<size_t>(spec.outputs());
    }
    if (!picture || !(has_places || has_masks)) return;
    r.annotated = {*picture, extent_in(example, "image/height"), extent_in(example, "image/width"),
                   false, !has_masks};
  }

  // 0 where the record does not say it.
  static int64_t extent_in(const stores::Example& example, const char* name) {
    const auto entry = example.feature(name);
    if (!entry) return 0;
    const auto values = stores::parse_feature(*entry, example.payload());
    if (values.type != stores::FeatureType::kInt64 || values.count != 1) return 0;
    int64_t extent = 0;
    stores::copy_values(values, example.payload(), &extent);
    return std::max<int64_t>(extent, 0);
  }

  // `k`: the feature's first output. Returns the number of the next feature's.
  static size_t give(Reading& r, size_t k, const FeatureSpec& spec,
                     const stores::Example& example) {
    const stores::FeatureResult f = stores::resolve(spec, example);
    const bool is_default = f.steps.empty() && !f.strings.empty();
    if (spec.type == stores::FeatureType::kBytes && !spec.many && !is_default) {
      r.share(k, f.strings.empty() ? io::Part() : f.strings[0]);
      return k + 1;
    }
    Shape shape;
    for (const int64_t e : f.shape) shape.extent[shape.rank++] = e;
    const View& to = r.make(k, {spec.dtype(), {}, shape});
    int64_t* sizes = nullptr;
    if (spec.many)
      sizes = r.make(k + 1, {DType::kInt64, {}, {static_cast<int64_t>(f.strings.size())}})
                  .as<int64_t>();
    stores::copy_result(spec, f, example.payload(), static_cast<uint8_t*>(to.data), sizes);
    return k + static_cast<size_t>(spec.outputs());
  }

  Options options_;
  std::vector<ShardKind> kinds_;
  bool has_compressed_ = false;
  std::string left_out_;  // what an index does not name, in words
  stores::RecordFiles files_;
  uint64_t fingerprint_ = 0;
};

}  // namespace

struct Tfrecord : ReaderArguments {
  std::vector<std::string> path, feature_names, features;
  std::optional<std::vector<std::string>> index_path;
  bool verify = false;

  static constexpr auto kIgnored = joined(kIgnoredReaderArguments, std::array{"use_o_direct"});
  static constexpr const char* kSkip = "reads files; tests/readers has its samples";
  static constexpr auto schema = describe(
      "readers.tfrecord",
      "Reads records of TFRecord files, which hold a tf.train.Example or a SequenceExample.\n\n"
      "In Python, features is a dict of features by name, of the classes of stoker.tfrecord, and "
      "the call returns a dict of nodes by the same names. Numbers come as float32 or int64, and "
      "byte strings as uint8 of shape (size,). Files that are compressed by gzip or zlib are read "
      "as well; each is then loaded as a whole, and shuffle_by='block' is the default. A file that "
      "is not there is an error when the pipeline is built; damage fails the sample, and where the "
      "next record cannot be found, the rest of the file is one bad sample.",
      ports(),
      ports({.name = "feature",
             .help = "The feature, of the type and shape that its class says.",
             .for_each = "feature_names"}),
      arg(&Tfrecord::path, "path", "The files.", kRequired),
      arg(&Tfrecord::index_path, "index_path",
          "Indexes of the files as tfrecord2idx writes them. Without them, and where one does not "
          "fit its file, the records are looked for once, and their places are kept beside the "
          "file."),
      arg(&Tfrecord::features, "features",
          "The features. In Python a dict of names and of objects of stoker.tfrecord; in a saved "
          "graph their descriptions.",
          kRequired),
      arg(&Tfrecord::feature_names, "feature_names",
          "The names of the outputs. In Python they follow from features."),
      arg(&Tfrecord::verify, "verify", "Whether checksums of records are checked."),
      kReaderArguments);

  std::vector<FeatureSpec> specs() const {
    std::vector<FeatureSpec> all;
    for (const std::string& text : features) all.push_back(stores::parse_feature_spec(text));
    return all;
  }

  void check(Checker& c) const {
    check_reader(*this);
    require(!path.empty(), "argument 'path' names no file");
    require(!features.empty(), "argument 'features' names no feature");
    require(!index_path || index_path->size() == path.size(), "argument 'index_path' has ",
            index_path ? index_path->size() : 0, " files; expected one for each of the ",
            path.size(), " files of 'path'");
    size_t outputs = 0;
    for (const FeatureSpec& spec : specs()) {
      outputs += static_cast<size_t>(spec.outputs());
      const std::vector<int64_t> extents = spec.static_shape();
      require(extents.size() <= kMaxRank, "feature '", spec.name, "' has ", extents.size(),
              " axes; expected ", static_cast<int>(kMaxRank), " at most");
      Shape shape;
      for (const int64_t e : extents) shape.extent[shape.rank++] = e;
      c.out({spec.dtype(), {}, shape});
      if (spec.many) c.out({DType::kInt64, {}, {-1}});
    }
    require(outputs == feature_names.size(), "argument 'feature_names' has ", feature_names.size(),
            " names; expected one for each of the ", outputs, " outputs");
  }

  std::unique_ptr<SampleStore> open() const {
    return stores::while_opening([&] {
      return std::make_unique<TfrecordStore>(TfrecordStore::Options{
          path, index_path.value_or(std::vector<std::string>{}), specs(), verify});
    });
  }
  io::OrderSpec order(const SampleStore& s) const { return order_of(*this, s); }
};

}  // namespace stoker::ops::read

STOKER_OPERATOR(stoker::ops::read::Tfrecord)
