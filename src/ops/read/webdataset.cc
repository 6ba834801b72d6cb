// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/hash.h"
#include "base/text.h"
#include "io/tar.h"
#include "op/reader.h"
#include "op/type_of.h"
#include "stores/inflated_file.h"
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

using stores::WebdatasetMember;
using stores::WebdatasetTable;

constexpr int64_t kSamplesLookedAt = 8;  // for components that none of them has

struct Shard {
  std::string path;
  bool is_compressed;
  WebdatasetTable table;
  int64_t intact;  // samples before the archive's damage; all of them, if it has none
};

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

class WebDataset final : public SampleStore {
 public:
  WebDataset(const std::vector<std::string>& paths, const std::vector<std::string>& indexes,
             Wanted wanted, std::vector<DType> dtypes)
      : wanted_(std::move(wanted)), dtypes_(std::move(dtypes)) {
    for (size_t i = 0; i < paths.size(); ++i) try {
        add(paths[i], indexes.empty() ? "" : indexes[i]);
      } catch (const SampleError& e) {
        throw GraphError(e.what());
      }
    if (size() == 0) throw GraphError("the archives hold no samples with the wanted components");
  }

  int64_t size() const override { return size_; }
  uint64_t fingerprint() const override { return fingerprint_; }
  std::vector<int64_t> block_begins() const override { return begins_; }
  bool is_read_by_block() const override {
    return std::any_of(shards_.begin(), shards_.end(),
                       [](const Shard& s) { return s.is_compressed; });
  }
  std::string warning() const override {
    if (wanted_.missing == MissingComponent::kError) return "";
    std::vector<std::string> unknown;
    for (const auto& endings : wanted_.endings) unknown.push_back(endings[0]);
    const int64_t looked_at = std::min<int64_t>(size_, kSamplesLookedAt);
    bool some_are_complete = false;
    try {
      for (int64_t i = 0; i < looked_at; ++i) {
        const auto [shard, sample] = at(i);
        if (sample >= shard.intact) return "";
        shard.table.require_together(sample);
        const std::vector<Component> all = components(shard, sample);
        some_are_complete |= is_complete(all);
        for (size_t k = 0; k < all.size(); ++k)
          if (all[k]) unknown[k].clear();
      }
      const auto lost = std::find_if(unknown.begin(), unknown.end(),
                                     [](const std::string& name) { return !name.empty(); });
      if (lost != unknown.end())
        return "the first samples have no component '" + *lost + "', but " + shown_endings(0);
      if (some_are_complete) return "";
      return "none of the first " + std::to_string(looked_at) + " samples has all components: '" +
             name(0) + "' has " + shown_endings(0) + ", and '" + name(1) + "' has " +
             shown_endings(1) +
             ". The members of a sample have one name up to the first dot, with the same folder "
             "and the same capital letters";
    } catch (const SampleError&) {  // its sample will fail, and say so
      return "";
    }
  }
  std::string name(int64_t index) const override {
    const auto [shard, sample] = at(index);
    if (sample >= shard.intact) return shard.path + ":the rest of the archive";
    std::string name = shard.path;
    try {
      const std::string_view first = shard.table.member(sample, 0).name;
      name.append(":").append(first.empty() ? "sample " + std::to_string(sample) : first);
      for (const Component& c : components(shard, sample))
        if (c) return name + " at byte " + std::to_string(c->place.offset);
    } catch (const SampleError&) {  // NOLINT(bugprone-empty-catch): place() throws it again
    }
    return name;
  }

  io::Place place(int64_t index) const override {
    const auto [shard, sample] = at(index);
    if (sample >= shard.intact) throw SampleError(shard.table.damage()->error);
    shard.table.require_together(sample);
    if (shard.is_compressed) return io::Place::in_block(shard_number(index));
    std::vector<io::Extent> extents;
    const auto file = files_.open(shard.path);
    for (const Component& c : components(shard, sample))
      if (c) extents.push_back(with_header(c->place, file));
    return io::Place::at(std::move(extents));
  }

  size_t block_bytes(int64_t block) const override {
    return stores::InflatedFile::memory(inflated_size(block));
  }
  std::shared_ptr<const io::Block> load(int64_t block) const override {
    return std::make_shared<const stores::InflatedFile>(
        files_.open(shards_[static_cast<size_t>(block)].path), Compression::kGzip,
        inflated_size(block));
  }
  void find(int64_t index, const io::Block& block, std::vector<io::Part>& parts) const override {
    const auto& archive = static_cast<const stores::InflatedFile&>(block);
    const auto [shard, sample] = at(index);
    const auto read_at = [&](int64_t offset, std::span<uint8_t> into) {
      std::ranges::copy(archive.part(offset, static_cast<int64_t>(into.size())), into.begin());
      return into.size();
    };
    for (const Component& c : components(shard, sample))
      if (c) {
        parts.push_back(archive.part(c->place.offset, c->place.size));
        const int64_t header = c->place.offset - io::kTarBlock;
        (void)shard.table.require_there(*c, archive.part(header, io::kTarBlock), read_at);
      }
  }

  void read(Reading& r) const override {
    const auto [shard, sample] = at(r.index);
    const std::vector<Component> all = components(shard, sample);
    const std::vector<io::Part> parts = shard.is_compressed
                                            ? std::vector(r.parts.begin(), r.parts.end())
                                            : without_headers(shard, all, r.parts);
    size_t part = 0;
    for (size_t k = 0; k < all.size(); ++k) {
      if (!all[k] && wanted_.missing == MissingComponent::kError)
        throw SampleError("the sample has no component '" + wanted_.endings[k][0] + "'");
      const io::Part bytes = all[k] ? parts[part++] : io::Part();
      const auto element = static_cast<size_t>(size_of(dtypes_[k]));
      if (bytes.size() % element)
        throw SampleError("the component '" + wanted_.endings[k][0] + "' has " +
                              std::to_string(bytes.size()) +
                              " bytes, which are no whole number of " + name_of(dtypes_[k]) +
                              "; a dtype says what its raw bytes are, and a label that is a text "
                              "is uint8",
                          all[k]->place.offset);
      if (element > 1) remark_on_text(r, wanted_.endings[k][0], bytes, dtypes_[k]);
      r.share(k, {dtypes_[k], {}, {static_cast<int64_t>(bytes.size() / element)}}, bytes);
    }
  }

 private:
  // A label that is a text may have as many bytes as a raw number. Numbers of two bytes may look
  // like letters by chance.
  static void remark_on_text(Reading& r, const std::string& ending, const io::Part& bytes,
                             DType dtype) {
    const auto is_digit = [](uint8_t c) { return c >= '0' && c <= '9'; };
    const auto is_letter = [](uint8_t c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; };
    constexpr std::string_view kBetween = "+-_. \t\r\n";
    const bool has_letters = size_of(dtype) > 2;
    bool says_something = false;
    for (const uint8_t c : bytes) {
      const bool is_word = is_digit(c) || (has_letters && is_letter(c));
      if (!is_word && kBetween.find(static_cast<char>(c)) == kBetween.npos) return;
      says_something = says_something || is_word;
    }
    if (!says_something) return;
    std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
    r.remarks.push_back({"the component '" + ending + "' is the text '" + shortened(text, 40) +
                             "', and its bytes are taken for " + name_of(dtype),
                         "a dtype says what raw bytes are: a label that is a text is uint8, and "
                         "fn.python_function makes a number of it"});
  }

  using Component = std::optional<WebdatasetMember>;  // none: it is missing
  struct At {
    const Shard& shard;
    int64_t sample;  // in the shard; behind the intact ones, what stands for its damage
  };

  // Of all members of a sample.
  std::string shown_endings(int64_t index) const {
    std::string text;
    const auto [shard, sample] = at(index);
    for (int64_t m = 0; m < shard.table.members(sample); ++m)
      text +=
          (text.empty() ? "'" : ", '") + std::string(shard.table.member(sample, m).ending) + "'";
    return text;
  }
  int64_t shard_number(int64_t index) const {
    return std::upper_bound(begins_.begin(), begins_.end(), index) - begins_.begin() - 1;
  }
  At at(int64_t index) const {
    const auto number = static_cast<size_t>(shard_number(index));
    const bool is_chosen = wanted_.missing == MissingComponent::kSkip;
    return {shards_[number],
            is_chosen ? chosen_[static_cast<size_t>(index)] : index - begins_[number]};
  }
  size_t inflated_size(int64_t block) const {
    return static_cast<size_t>(shards_[static_cast<size_t>(block)].table.archive_size());
  }

  // A member's data with the header before it, which costs nothing where the data is read.
  static io::Extent with_header(stores::RecordPlace p,
                                const std::shared_ptr<const io::Object>& of) {
    if (p.offset < io::kTarBlock || p.size > INT64_MAX - io::kTarBlock)
      stores::refuse(of->path(), p.offset,
                     "the index has a member of " + std::to_string(p.size) +
                         " bytes here, and no archive has one");
    return {"", p.offset - io::kTarBlock, p.size + io::kTarBlock, of};
  }
  // The parts without headers, which are compared with the table.
  std::vector<io::Part> without_headers(const Shard& shard, const std::vector<Component>& all,
                                        std::span<const io::Part> parts) const {
    const auto read_at = [&](int64_t offset, std::span<uint8_t> into) {
      stores::ObjectRanges(files_.open(shard.path)).read(offset, into);
      return into.size();
    };
    std::vector<io::Part> data;
    std::optional<std::string> key;
    for (const Component& c : all) {
      if (!c) continue;
      const io::Part part = parts[data.size()];
      const std::string of = shard.table.require_there(*c, part.first(io::kTarBlock), read_at);
      if (key.value_or(of) != of)
        stores::refuse(shard.path, c->place.offset,
                       "the index puts members of '" + *key + "' and of '" + of +
                           "' into one sample: it is of another archive");
      key = of;
      data.push_back(part.subspan(io::kTarBlock));
    }
    return data;
  }

  // By output, the member with the nearest ending of those that it takes. Throws SampleError where
  // the sample has two with that ending.
  std::vector<Component> components(const Shard& shard, int64_t sample) const {
    std::vector<Component> found(wanted_.endings.size());
    std::vector<size_t> ranks(found.size(), SIZE_MAX);
    const int64_t members = shard.table.members(sample);
    for (int64_t m = 0; m < members; ++m) {
      const WebdatasetMember member = shard.table.member(sample, m);
      const std::string ending = wanted_.folded(member.ending);
      for (size_t k = 0; k < found.size(); ++k) {
        const auto& list = wanted_.endings[k];
        const auto at = std::find(list.begin(), list.end(), ending);
        const auto rank = static_cast<size_t>(at - list.begin());
        if (at == list.end() || rank > ranks[k]) continue;
        if (rank == ranks[k]) refuse_both(shard, *found[k], member);
        found[k] = member;
        ranks[k] = rank;
      }
    }
    return found;
  }
  [[noreturn]] static void refuse_both(const Shard& shard, const WebdatasetMember& one,
                                       const WebdatasetMember& other) {
    stores::refuse(shard.path, other.place.offset,
                   "the sample has the component '" + std::string(other.ending) +
                       "' here and, as '" + std::string(one.ending) + "', at byte " +
                       std::to_string(one.place.offset) +
                       ": write the archive again with only one of them");
  }
  static bool is_complete(const std::vector<Component>& all) {
    return std::ranges::all_of(all, [](const Component& c) { return c.has_value(); });
  }
  // Whether a sample is left out where incomplete ones are. Those that cannot be told will fail.
  bool is_skipped(const Shard& shard, int64_t sample) const {
    try {
      shard.table.require_together(sample);
      return !is_complete(components(shard, sample));
    } catch (const SampleError&) {
      return false;
    }
  }

  void add(const std::string& path, const std::string& index) {
    const auto file = files_.open(path);
    uint8_t magic[2] = {};
    if (file->size() >= 2) stores::ObjectRanges(file).read(0, magic);
    const bool is_compressed = magic[0] == 0x1f && magic[1] == 0x8b;
    Shard shard{path, is_compressed, table_of(file, is_compressed, index), 0};
    shard.intact = shard.table.size();
    if (shard.table.damage() && !is_last_intact(shard)) --shard.intact;
    begins_.push_back(size_);
    const int64_t all = shard.intact + shard.table.damage().has_value();
    if (wanted_.missing == MissingComponent::kSkip) {
      for (int64_t i = 0; i < all; ++i)
        if (i >= shard.intact || !is_skipped(shard, i)) chosen_.push_back(i);
      size_ = static_cast<int64_t>(chosen_.size());
    } else {
      size_ += all;
    }
    fingerprint_ = mix(fingerprint_, shard.table.fingerprint(), static_cast<uint64_t>(size_));
    if (begins_.back() == size_) begins_.pop_back();
    else shards_.push_back(std::move(shard));
  }

  static WebdatasetTable table_of(const std::shared_ptr<const io::Object>& file, bool is_compressed,
                                  const std::string& index) {
    if (!index.empty() && !is_compressed)
      return WebdatasetTable::of_index(io::text_of(index), index, file->path());
    return WebdatasetTable::kept(file->path(), [&] {
      if (!is_compressed) return WebdatasetTable::searched(stores::ObjectRanges(file));
      stores::InflatingFile from(file, Compression::kGzip);
      return WebdatasetTable::searched(
          file->path(),
          [&](int64_t at, std::span<uint8_t> into) {
            const int64_t gap = at - from.at();
            return from.skip(gap) < gap ? 0 : from.read(into);
          },
          [&] { return from.at(); });
    });
  }

  // What is behind an archive's damage is unknown. A sample stands for it, and for the last one
  // before it unless that one has all that is asked for.
  bool is_last_intact(const Shard& shard) const {
    if (shard.intact == 0) return true;
    try {
      for (const Component& c : components(shard, shard.intact - 1))
        if (!c || c->place.offset + c->place.size > shard.table.damage()->intact_size) return false;
    } catch (const SampleError&) {  // NOLINT(bugprone-empty-catch): its sample throws it again
    }
    return true;
  }

  const Wanted wanted_;
  const std::vector<DType> dtypes_;
  io::OpenFiles files_;
  std::vector<Shard> shards_;
  std::vector<int64_t> begins_;  // by shard: its first sample
  std::vector<int64_t> chosen_;  // where incomplete ones are skipped, by sample: its number
  int64_t size_ = 0;
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
      "output, the bytes of that component. Where members of one name are no neighbours, or a "
      "component is there twice, their samples fail. Archives may be of any kind of tar, also "
      "compressed by gzip: then they are decompressed as wholes, and shuffled by blocks unless "
      "shuffle_by says otherwise. Without an index an archive is searched for its members once, "
      "and what was found is kept beside it. Damage fails the samples that it concerns; behind a "
      "damaged header, one sample stands for the rest of the archive.",
      ports(), ports({.name = "component", .help = "Its bytes.", .for_each = "ext"}),
      arg(&Webdataset::paths, "paths", "The archives.", kRequired),
      arg(&Webdataset::ext, "ext",
          "The endings, such as 'jpg'. Alternatives are separated by ';', the first one that a "
          "sample has is taken.",
          kRequired),
      arg(&Webdataset::index_paths, "index_paths",
          "An index file for each of the archives, as wds2idx writes them. It is compared with the "
          "header of each member that is read: an index of another archive fails its samples. "
          "Compressed archives do not use theirs."),
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
    if (index_paths && !index_paths->empty())
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
