// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/hash.h"
#include "io/tar.h"
#include "op/inflated_file.h"
#include "op/op.h"
#include "op/reader.h"
#include "stores/webdataset.h"

namespace stoker {

enum class MissingComponent : uint8_t { kDefault, kEmpty, kSkip, kError };
template <>
struct EnumNames<MissingComponent> {
  static constexpr const char* kType = "str";
  static constexpr const char* kNames[] = {"", "empty", "skip", "error"};
};

namespace ops::read {

namespace {

struct Component {
  int64_t offset = -1, size = 0;  // -1: it is missing
};

struct Shard {
  std::string path;
  bool is_compressed = false;
  int64_t size = 0;  // of a compressed one: as a plain archive
};

// What is asked of samples.
struct Wanted {
  // By output: the endings that it takes, the nearest first.
  std::vector<std::vector<std::string>> endings;
  bool distinguishes_case = true;
  MissingComponent missing = MissingComponent::kEmpty;

  std::string folded(std::string_view ending) const {
    std::string s(ending);
    if (!distinguishes_case)
      for (char& c : s)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
    return s;
  }
};

// The name of a member without its ending, and the ending: what follows the first dot of its last
// part.
struct SplitName {
  std::string_view key, ending;
  explicit SplitName(std::string_view name) {
    const size_t dot = name.find('.', name.rfind('/') + 1);
    key = name.substr(0, dot);
    if (dot != std::string_view::npos) ending = name.substr(dot + 1);
  }
  // Such members belong to no sample.
  bool is_hidden() const { return key.empty() || key.back() == '/' || ending.empty(); }
};

class WebDataset final : public SampleStore {
 public:
  WebDataset(const std::vector<std::string>& paths, const std::vector<std::string>& indexes,
             Wanted wanted, std::vector<DType> dtypes)
      : wanted_(std::move(wanted)), dtypes_(std::move(dtypes)) {
    for (size_t i = 0; i < paths.size(); ++i) try {
        begins_.push_back(size());
        shards_.push_back({paths[i]});
        add(shards_.back(), indexes.empty() ? "" : indexes[i]);
        if (begins_.back() == size()) begins_.pop_back(), shards_.pop_back();
      } catch (const SampleError& e) {
        throw GraphError(e.what());
      }
    if (size() == 0) throw GraphError("the archives hold no samples with the wanted components");
  }

  int64_t size() const override { return static_cast<int64_t>(names_.size()); }
  uint64_t fingerprint() const override { return fingerprint_; }
  std::vector<int64_t> block_begins() const override { return begins_; }
  bool is_read_by_block() const override {
    return std::any_of(shards_.begin(), shards_.end(),
                       [](const Shard& s) { return s.is_compressed; });
  }
  std::string name(int64_t index) const override {
    std::string name = shard(index).path + ":" + names_[static_cast<size_t>(index)];
    for (const Component& c : of(index))
      if (c.offset >= 0) return name + " at byte " + std::to_string(c.offset);
    return name;
  }

  io::Place place(int64_t index) const override {
    require_sound(index);
    const Shard& s = shard(index);
    if (s.is_compressed) return io::Place::in_block(shard_number(index));
    std::vector<io::Extent> extents;
    const auto file = files_.open(s.path);
    for (const Component& c : of(index))
      if (c.offset >= 0) extents.push_back({"", c.offset, c.size, file});
    return io::Place::at(std::move(extents));
  }

  size_t block_bytes(int64_t block) const override {
    return InflatedFile::memory(static_cast<size_t>(shards_[static_cast<size_t>(block)].size));
  }
  std::shared_ptr<const io::Block> load(int64_t block) const override {
    const Shard& s = shards_[static_cast<size_t>(block)];
    return std::make_shared<const InflatedFile>(files_.open(s.path), Compression::kGzip,
                                                static_cast<size_t>(s.size));
  }
  void find(int64_t index, const io::Block& block, std::vector<io::Part>& parts) const override {
    const auto& archive = static_cast<const InflatedFile&>(block);
    for (const Component& c : of(index))
      if (c.offset >= 0) parts.push_back(archive.part(c.offset, c.size));
  }

  void read(Reading& r) const override {
    size_t part = 0;
    const std::span<const Component> components = of(r.index);
    for (size_t k = 0; k < components.size(); ++k) {
      const bool is_there = components[k].offset >= 0;
      if (!is_there && wanted_.missing == MissingComponent::kError)
        throw SampleError("the sample has no component '" + wanted_.endings[k][0] + "'");
      const io::Part bytes = is_there ? r.parts[part++] : io::Part();
      const auto element = static_cast<size_t>(size_of(dtypes_[k]));
      if (bytes.size() % element)
        throw SampleError("the component '" + wanted_.endings[k][0] + "' has " +
                              std::to_string(bytes.size()) +
                              " bytes, which are no whole number of " + name_of(dtypes_[k]),
                          components[k].offset);
      r.share(k, {dtypes_[k], {}, {static_cast<int64_t>(bytes.size() / element)}}, bytes);
    }
  }

 private:
  // A sample while its members are being found.
  struct Group {
    std::string key, name;  // name: that of its first member
    std::vector<Component> components;
    std::vector<size_t> ranks;  // by output: which of its endings was found
    bool is_empty = true;
  };

  size_t shard_number(int64_t index) const {
    return static_cast<size_t>(std::upper_bound(begins_.begin(), begins_.end(), index) -
                               begins_.begin() - 1);
  }
  const Shard& shard(int64_t index) const { return shards_[shard_number(index)]; }
  std::span<const Component> of(int64_t index) const {
    const size_t n = wanted_.endings.size();
    return std::span(components_).subspan(static_cast<size_t>(index) * n, n);
  }
  // Throws for what stands for the rest of an archive that is damaged.
  void require_sound(int64_t index) const {
    for (const auto& [bad, error] : damage_)
      if (bad == index) throw SampleError(error);
  }

  void add(Shard& shard, const std::string& index) {
    const auto file = files_.open(shard.path);
    uint8_t magic[2] = {};
    if (file->size() >= 2) {
      io::ByteBuffer begin;
      file->read(begin, 0, 2);
      std::copy_n(reinterpret_cast<const uint8_t*>(begin.data()), 2, magic);
    }
    shard.is_compressed = magic[0] == 0x1f && magic[1] == 0x8b;
    if (!index.empty() && !shard.is_compressed) return read_index(index);
    if (shard.is_compressed) {
      InflatingFile from(file, Compression::kGzip);
      scan(
          shard,
          [&](int64_t at, std::span<uint8_t> into) {
            const int64_t gap = at - from.at();
            return from.skip(gap) < gap ? 0 : from.read(into);
          },
          [&] { return from.at(); });
      shard.size = from.at();
    } else {
      io::ByteBuffer buffer;
      int64_t begin = 0;  // of what is in the buffer: headers are often near each other
      scan(
          shard,
          [&](int64_t at, std::span<uint8_t> into) {
            const auto wanted = static_cast<int64_t>(into.size());
            if (at >= file->size()) return size_t{0};
            const int64_t there = std::min(wanted, file->size() - at);
            if (at < begin || at + there > begin + static_cast<int64_t>(buffer.size())) {
              begin = at;
              file->read(buffer, at, std::min(std::max<int64_t>(there, 4096), file->size() - at));
            }
            std::copy_n(reinterpret_cast<const uint8_t*>(buffer.data()) + (at - begin),
                        static_cast<size_t>(there), into.data());
            return static_cast<size_t>(there);
          },
          [&] { return file->size(); });
    }
  }

  // `sound`: how many bytes of the archive were read without damage.
  void scan(const Shard& shard, io::TarReader::ReadAt read_at,
            const std::function<int64_t()>& sound) {
    io::TarReader tar(shard.path, std::move(read_at));
    Group group;
    try {
      while (std::optional<io::TarMember> m = tar.next()) {
        const SplitName name(m->name);
        if (name.is_hidden()) continue;
        if (group.is_empty || name.key != group.key) {
          finish(group);
          begin(group, m->name, name.key);
        }
        put(group, name.ending, {m->offset, m->size});
      }
      finish(group);
    } catch (const SampleError& e) {
      // What the archive holds behind this place cannot be known. A sample stands for it, and for
      // the last one before it unless that has all that is asked for.
      if (!group.is_empty && is_complete(group) && ends_before(group, sound())) finish(group);
      damage_.emplace_back(size(), e);
      Group bad;
      begin(bad, "the rest of the archive", "");
      keep(bad);
    }
  }

  void begin(Group& group, std::string_view name, std::string_view key) const {
    group = {std::string(key), std::string(name), std::vector<Component>(wanted_.endings.size()),
             std::vector<size_t>(wanted_.endings.size(), SIZE_MAX), false};
  }
  void put(Group& group, std::string_view ending, const Component& component) const {
    const std::string folded = wanted_.folded(ending);
    for (size_t k = 0; k < wanted_.endings.size(); ++k) {
      const auto& list = wanted_.endings[k];
      const auto rank =
          static_cast<size_t>(std::find(list.begin(), list.end(), folded) - list.begin());
      if (rank == list.size() || rank >= group.ranks[k]) continue;
      group.components[k] = component;
      group.ranks[k] = rank;
    }
  }
  static bool is_complete(const Group& group) {
    return std::all_of(group.components.begin(), group.components.end(),
                       [](const Component& c) { return c.offset >= 0; });
  }
  static bool ends_before(const Group& group, int64_t end) {
    return std::all_of(group.components.begin(), group.components.end(),
                       [&](const Component& c) { return c.offset + c.size <= end; });
  }
  void finish(Group& group) {
    if (group.is_empty) return;
    if (is_complete(group) || wanted_.missing != MissingComponent::kSkip) keep(group);
    group.is_empty = true;
  }
  void keep(const Group& group) {
    names_.push_back(group.name);
    fingerprint_ = mix(fingerprint_, hash64(group.name));
    for (const Component& c : group.components) {
      components_.push_back(c);
      fingerprint_ =
          mix(fingerprint_, static_cast<uint64_t>(c.offset), static_cast<uint64_t>(c.size));
    }
  }

  void read_index(const std::string& path) {
    const std::string text = io::text_of(path);
    int64_t number = 0;
    for (const auto& members : stores::parse_webdataset_index(text, path)) {
      Group group;
      const std::string_view name = members[0].name;
      begin(group, name.empty() ? "sample " + std::to_string(number) : std::string(name), "");
      for (const stores::IndexedMember& m : members) put(group, m.ending, {m.offset, m.size});
      finish(group);
      ++number;
    }
  }

  const Wanted wanted_;
  const std::vector<DType> dtypes_;
  io::OpenFiles files_;
  std::vector<Shard> shards_;
  std::vector<int64_t> begins_;  // by shard: its first sample
  std::vector<std::string> names_;  // by sample: of its first member
  std::vector<Component> components_;  // by sample and output
  std::vector<std::pair<int64_t, SampleError>> damage_;  // of samples that stand for damage
  uint64_t fingerprint_ = 0;
};

}  // namespace

struct Webdataset : ReaderArguments {
  std::vector<std::string> paths, ext;
  std::optional<std::vector<std::string>> index_paths;
  std::optional<std::vector<std::string>> dtypes;
  MissingComponent missing_component_behavior = MissingComponent::kDefault;
  bool case_sensitive_extensions = true;

  static constexpr auto kIgnored = kIgnoredReaderArguments;
  static constexpr const char* kSkip = "reads files; tests/readers has its samples";
  static constexpr auto schema = describe(
      "readers.webdataset",
      "Reads samples from tar archives in the layout of WebDataset.\n\n"
      "Members one behind the other whose names are equal up to the first dot of their last part "
      "are a sample; what follows the dot is the ending of a component. Each entry of ext is an "
      "output, the bytes of that component. Archives may be of any kind of tar, also compressed by "
      "gzip: then they are decompressed as wholes, and shuffled by blocks unless shuffle_by says "
      "otherwise. Without an index an archive is searched for its members when the pipeline is "
      "built. Damage fails the samples that it concerns; behind a damaged header, one sample "
      "stands for the rest of the archive.",
      ports(), ports({.name = "component", .help = "Its bytes.", .for_each = "ext"}),
      arg(&Webdataset::paths, "paths", "The archives.", kRequired),
      arg(&Webdataset::ext, "ext",
          "The endings, such as 'jpg'. Alternatives are separated by ';', the first one that a "
          "sample has is taken.",
          kRequired),
      arg(&Webdataset::index_paths, "index_paths",
          "An index file for each of the archives, as wds2idx writes them. Compressed archives do "
          "not use theirs."),
      arg(&Webdataset::dtypes, "dtypes",
          "For each of ext, what its bytes are elements of, in little-endian order. Default: "
          "uint8."),
      arg(&Webdataset::missing_component_behavior, "missing_component_behavior",
          "What becomes of a sample without one of the components: 'empty' (default) gives an "
          "output of no elements, 'skip' leaves the sample out, 'error' fails it."),
      arg(&Webdataset::case_sensitive_extensions, "case_sensitive_extensions",
          "Whether endings distinguish upper and lower case."),
      kReaderArguments);

  void check(Checker& c) const {
    check_reader(*this);
    require(!paths.empty(), "argument 'paths' is empty");
    require(!ext.empty(), "argument 'ext' is empty");
    if (index_paths)
      require_count("argument 'index_paths'", index_paths->size(),
                    {static_cast<int64_t>(paths.size())}, "one per archive");
    for (const DType t : types()) c.out({t, {}, {-1}});
  }

  std::unique_ptr<SampleStore> open() const {
    Wanted w;
    w.distinguishes_case = case_sensitive_extensions;
    w.missing = missing_component_behavior == MissingComponent::kDefault
                    ? MissingComponent::kEmpty
                    : missing_component_behavior;
    for (const std::string& all : ext) {
      auto& list = w.endings.emplace_back();
      for (size_t at = 0; at <= all.size();) {
        const size_t end = std::min(all.find(';', at), all.size());
        list.push_back(w.folded(std::string_view(all).substr(at, end - at)));
        at = end + 1;
      }
    }
    return std::make_unique<WebDataset>(paths, index_paths.value_or(std::vector<std::string>{}),
                                        std::move(w), types());
  }
  io::OrderSpec order(const SampleStore& s) const { return order_of(*this, s); }

 private:
  std::vector<DType> types() const {
    std::vector<DType> all(ext.size(), DType::kUint8);
    if (!dtypes) return all;
    require_count("argument 'dtypes'", dtypes->size(), {static_cast<int64_t>(ext.size())},
                  "one per entry of ext");
    for (size_t k = 0; k < all.size(); ++k) {
      all[k] = dtype_named((*dtypes)[k]);
      require(all[k] != DType::kNone, "argument 'dtypes' names '", (*dtypes)[k],
              "', which is no dtype");
    }
    return all;
  }
};

}  // namespace ops::read
}  // namespace stoker

STOKER_OPERATOR(stoker::ops::read::Webdataset)
