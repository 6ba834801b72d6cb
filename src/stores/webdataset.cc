// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/webdataset.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <unordered_map>
#include <utility>

#include "base/hash.h"
#include "base/text.h"
#include "io/crc32c.h"

namespace stoker::stores {

namespace {

std::string_view take_word(std::string_view& line) {
  const std::string_view word = line.substr(0, std::min(line.find(' '), line.size()));
  line.remove_prefix(std::min(word.size() + 1, line.size()));
  return word;
}

// Takes a number that is followed by a blank or the line's end.
bool take_last_number(std::string_view& line, int64_t& value) {
  if (!take_number(line, value) || value < 0 || (!line.empty() && line[0] != ' ')) return false;
  line.remove_prefix(std::min<size_t>(1, line.size()));
  return true;
}

// Takes the ending and the place of a member.
bool take_member(std::string_view& line, WebdatasetMember& member) {
  member.ending = take_word(line);
  return take_last_number(line, member.place.offset) && member.place.offset % io::kTarBlock == 0 &&
         take_last_number(line, member.place.size);
}

// Takes a name, which ends where another member follows, or with the line. No member begins with a
// blank, so a run of blanks is looked through only once.
std::string_view take_name(std::string_view& line) {
  for (size_t at = line.find(' '); at != line.npos; at = line.find(' ', at + 1)) {
    std::string_view rest = line.substr(at + 1);
    if (rest.starts_with(' ')) continue;
    WebdatasetMember next;
    if (!take_member(rest, next)) continue;
    const std::string_view name = line.substr(0, at);
    line.remove_prefix(at + 1);
    return name;
  }
  return std::exchange(line, std::string_view());
}

// The name of a member without its ending, and the ending: what follows the first dot of its last
// part.
struct SplitName {
  std::string_view key, ending;
  explicit SplitName(std::string_view name) {
    const size_t dot = name.find('.', name.rfind('/') + 1);
    key = name.substr(0, dot);
    if (dot != std::string_view::npos) ending = name.substr(dot + 1);
  }
  bool is_of_a_sample() const { return !key.empty() && key.back() != '/' && !ending.empty(); }
};

// The numbers of a table: its head; the first member of each sample, and behind the last one; for
// each member its offset, its size, where its texts begin, and their sizes; for each sample that is
// apart its number and that of another one of its name.
constexpr int64_t kTableHead = 5, kOfMember = 4, kOfApart = 2, kNumber = sizeof(int64_t);

std::string shown_member(std::string_view name, int64_t size) {
  return "'" + shortened(name, 200) + "' of " + std::to_string(size) + " bytes";
}

}  // namespace

std::vector<std::vector<WebdatasetMember>> parse_webdataset_index(std::string_view text,
                                                                  const std::string& shown) {
  const char* const begin = text.data();
  int64_t number = 0, at = 0;
  const auto next_line = [&] {
    ++number;
    at = text.data() - begin;
    return take_line(text);
  };
  const auto fail = [&](const std::string& why) {
    throw SampleError("the index '" + shown + "', line " + std::to_string(number) + ": " + why, at);
  };
  std::string_view head = next_line();
  const std::string_view version = take_word(head);
  if (version != "v1.1" && version != "v1.2")
    fail("expected the version v1.1 or v1.2, got '" + shortened(version, 20) + "'");
  int64_t count = -1;
  if (!take_last_number(head, count)) fail("expected the number of samples");
  std::vector<std::vector<WebdatasetMember>> samples;
  while (!text.empty()) {
    std::string_view line = next_line();
    if (line.empty()) continue;
    auto& members = samples.emplace_back();
    while (!line.empty()) {
      WebdatasetMember member{};
      if (!take_member(line, member))
        fail("expected an ending, an offset and a size, got '" + shortened(member.ending, 20) +
             "'");
      if (version == "v1.2") member.name = take_name(line);
      members.push_back(member);
    }
  }
  if (count != static_cast<int64_t>(samples.size()))
    fail("it promises " + std::to_string(count) + " samples and has " +
         std::to_string(samples.size()));
  return samples;
}

class WebdatasetTable::Maker {
 public:
  // `key`: empty where it is not known.
  void begin_sample(std::string_view key) {
    const auto number = static_cast<int64_t>(firsts_.size());
    firsts_.push_back(count());
    if (key.empty()) return;
    const auto [other, is_new] = known_.emplace(hash64(key), number);
    if (!is_new) apart_.insert({{number, other->second}, {other->second, number}});
  }
  void add(const WebdatasetMember& m) {
    const auto sizes = static_cast<int64_t>(m.ending.size() << 32 | m.name.size());
    for (const int64_t x : {m.place.offset, m.place.size, int64_t(texts_.size()), sizes})
      members_.push_back(x);
    texts_.append(m.ending).append(m.name);
  }
  WebdatasetTable finish(std::string archive, int64_t archive_size) {
    const auto samples = static_cast<int64_t>(firsts_.size()), members = count();
    firsts_.push_back(members);
    const auto bytes = std::make_shared<std::vector<uint8_t>>();
    const auto append = [&](const void* data, size_t size) {
      const auto* from = static_cast<const uint8_t*>(data);
      bytes->insert(bytes->end(), from, from + size);
    };
    std::vector<int64_t> apart;
    for (const auto& [sample, other] : apart_) apart.insert(apart.end(), {sample, other});
    const int64_t head[kTableHead] = {samples, members, int64_t(texts_.size()), archive_size,
                                      int64_t(apart_.size())};
    append(head, sizeof head);
    append(firsts_.data(), firsts_.size() * sizeof(int64_t));
    append(members_.data(), members_.size() * sizeof(int64_t));
    append(apart.data(), apart.size() * sizeof(int64_t));
    append(texts_.data(), texts_.size());
    return {{bytes, *bytes}, std::move(archive)};
  }

 private:
  int64_t count() const { return static_cast<int64_t>(members_.size()) / kOfMember; }

  std::vector<int64_t> firsts_, members_;
  std::string texts_;
  std::unordered_map<uint64_t, int64_t> known_;  // by the hash of a key: the first such sample
  std::map<int64_t, int64_t> apart_;  // by sample: another of its name
};

WebdatasetTable::WebdatasetTable(io::KeptBytes kept, std::string archive)
    : kept_(std::move(kept)), archive_(std::move(archive)) {
  const auto numbers = static_cast<int64_t>(kept_.bytes.size()) / kNumber;
  if (numbers < kTableHead) refuse_table();
  samples_ = number(0), members_ = number(1), archive_size_ = number(3), apart_ = number(4);
  if (samples_ < 0 || samples_ >= numbers || members_ < 0 || members_ >= numbers / kOfMember ||
      archive_size_ < 0 || apart_ < 0 || apart_ > samples_)
    refuse_table();
  const int64_t end =
      (kTableHead + samples_ + 1 + members_ * kOfMember + apart_ * kOfApart) * kNumber;
  const int64_t rest = static_cast<int64_t>(kept_.bytes.size()) - end;
  if (rest < 0 || number(2) != rest) refuse_table();
  texts_ = {reinterpret_cast<const char*>(kept_.bytes.data()) + end, static_cast<size_t>(rest)};
}

void WebdatasetTable::refuse_table() const {
  throw SampleError("the table that was kept of the archive '" + archive_ + "' is damaged");
}

int64_t WebdatasetTable::number(int64_t at) const {
  return number_at<int64_t>(kept_.bytes, static_cast<size_t>(at * kNumber));
}

int64_t WebdatasetTable::members(int64_t sample) const {
  const int64_t first = number(kTableHead + sample), last = number(kTableHead + sample + 1);
  if (first < 0 || first >= last || last > members_) refuse_table();
  return last - first;
}

WebdatasetMember WebdatasetTable::member(int64_t sample, int64_t k) const {
  const int64_t first = number(kTableHead + sample);
  if (first < 0 || first >= members_ - k) refuse_table();
  const int64_t at = kTableHead + samples_ + 1 + (first + k) * kOfMember;
  const auto text = static_cast<uint64_t>(number(at + 2));
  const auto sizes = static_cast<uint64_t>(number(at + 3));
  const uint64_t ending = sizes >> 32, name = sizes & UINT32_MAX;
  if (text > texts_.size() || ending + name > texts_.size() - text) refuse_table();
  const RecordPlace place{number(at), number(at + 1)};
  if (place.offset < 0 || place.size < 0) refuse_table();
  return {texts_.substr(text, ending), texts_.substr(text + ending, name), place};
}

void WebdatasetTable::require_together(int64_t sample) const {
  const int64_t begin = kTableHead + samples_ + 1 + members_ * kOfMember;
  const auto all = std::views::iota(int64_t{0}, apart_);
  const auto at = std::ranges::lower_bound(all, sample, {},
                                           [&](int64_t k) { return number(begin + k * kOfApart); });
  if (at == all.end() || number(begin + *at * kOfApart) != sample) return;
  const int64_t twin = number(begin + *at * kOfApart + 1);
  if (twin < 0 || twin >= samples_) refuse_table();
  const WebdatasetMember first = member(std::min(sample, twin), 0),
                         last = member(std::max(sample, twin), 0);
  if (SplitName(first.name).key != SplitName(last.name).key) return;  // only their hashes are equal
  const auto place = [](const WebdatasetMember& m) {
    return "'" + shortened(m.name, 200) + "' at byte " + std::to_string(m.place.offset);
  };
  refuse(archive_, last.place.offset,
         "the members of a sample stand one behind the other, but others stand between " +
             place(first) + " and " + place(last) +
             ". Either the parts of a sample are apart, or the archive holds the sample twice: "
             "write it again with each member once, in the order of their names, as "
             "`tar --sort=name` does");
}

std::string WebdatasetTable::require_there(const WebdatasetMember& m, ByteSpan header,
                                           const io::TarReader::ReadAt& read_at) const {
  const SplitName split(m.name);
  if (split.ending == m.ending && io::is_tar_header(header, m.name, m.place.size))
    return std::string(split.key);
  const auto is_right = [&](const io::TarMember& there) {
    return there.size == m.place.size && SplitName(there.name).ending == m.ending &&
           (m.name.empty() || m.name == there.name);
  };
  const std::optional<io::TarMember> there = io::tar_member_at(m.place.offset, read_at, is_right);
  if (there && is_right(*there)) return std::string(SplitName(there->name).key);
  const std::string name = m.name.empty() ? "*." + std::string(m.ending) : std::string(m.name);
  refuse(archive_, m.place.offset,
         source() + " has " + shown_member(name, m.place.size) + " here, and the archive has " +
             (there ? shown_member(there->name, there->size) : "no member") + ". " + way_out());
}

std::string WebdatasetTable::source() const {
  if (!index_.empty()) return "the index '" + index_ + "'";
  return kept_.kept_in.empty() ? "the search" : "the table '" + kept_.kept_in + "'";
}

std::string WebdatasetTable::way_out() const {
  if (!index_.empty())
    return "The index is of another archive: give its own, or no index_paths, as members are "
           "looked for without them";
  if (!kept_.kept_in.empty())
    return "The table is of another archive: remove it, and members are looked for again";
  return "The archive was changed after it was opened";
}

WebdatasetTable WebdatasetTable::searched(const std::string& path, io::TarReader::ReadAt read_at,
                                          const std::function<int64_t()>& intact_size) {
  io::TarReader tar(path, std::move(read_at));
  Maker maker;
  std::optional<std::string> key;
  std::optional<Damage> damage;
  try {
    while (const std::optional<io::TarMember> m = tar.next()) {
      const SplitName name(m->name);
      if (!name.is_of_a_sample()) continue;
      if (key != name.key) {
        maker.begin_sample(name.key);
        key = name.key;
      }
      maker.add({name.ending, m->name, {m->offset, m->size}});
    }
  } catch (const SampleError& e) {
    damage = {e, intact_size()};
  }
  WebdatasetTable table = maker.finish(path, intact_size());
  table.kept_.may_be_kept = !damage;
  table.damage_ = std::move(damage);
  return table;
}

WebdatasetTable WebdatasetTable::searched(const Ranges& archive) {
  Scanner scanner(archive);
  return searched(
      archive.name(), [&](int64_t at, std::span<uint8_t> into) { return scanner.copy(at, into); },
      [&] { return archive.size(); });
}

WebdatasetTable WebdatasetTable::kept(const std::string& path,
                                      const std::function<WebdatasetTable()>& search) {
  std::optional<Damage> damage;
  WebdatasetTable table(io::kept_bytes(path, "webdataset 2",
                                       [&] {
                                         const WebdatasetTable made = search();
                                         damage = made.damage_;
                                         return made.kept_;
                                       }),
                        path);
  table.damage_ = std::move(damage);
  return table;
}

WebdatasetTable WebdatasetTable::of_index(std::string_view text, const std::string& shown,
                                          const std::string& archive) {
  Maker maker;
  for (const auto& members : parse_webdataset_index(text, shown)) {
    maker.begin_sample(SplitName(members[0].name).key);
    for (const WebdatasetMember& m : members) maker.add(m);
  }
  WebdatasetTable table = maker.finish(archive, 0);
  table.index_ = shown;
  return table;
}

std::string WebdatasetTable::index() const {
  std::string text = "v1.2 " + std::to_string(samples_) + "\n";
  for (int64_t i = 0; i < samples_; ++i)
    for (int64_t k = 0; k < members(i); ++k) {
      const WebdatasetMember m = member(i, k);
      if (m.ending.find(' ') != m.ending.npos || m.name.find('\n') != m.name.npos)
        refuse(archive_, m.place.offset,
               "no index can hold the name '" + shortened(m.name, 200) +
                   "': it has a blank in its ending, or a line break");
      text.append(m.ending).append(" " + std::to_string(m.place.offset) + " ");
      text.append(std::to_string(m.place.size) + " ").append(m.name);
      text += k + 1 < members(i) ? ' ' : '\n';
    }
  return text;
}

uint64_t WebdatasetTable::fingerprint() const {
  return mix(uint64_t{io::crc32c(kept_.bytes)}, static_cast<uint64_t>(kept_.bytes.size()));
}

std::string webdataset_index(const Ranges& archive) {
  const auto table = WebdatasetTable::searched(archive);
  if (table.damage()) throw SampleError(table.damage()->error);
  if (table.size() > 0) {
    const int64_t last = table.size() - 1;
    const WebdatasetMember m = table.member(last, table.members(last) - 1);
    if (m.place.offset > archive.size() || m.place.size > archive.size() - m.place.offset)
      refuse(archive.name(), m.place.offset,
             "the archive ends within '" + shortened(m.name, 200) + "'");
  }
  return table.index();
}

}  // namespace stoker::stores
