// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/lmdb.h"

#include <filesystem>
#include <limits>
#include <optional>

namespace stoker::stores {

namespace {

constexpr size_t kPageHead = 16, kNodeHead = 8;
constexpr int64_t kLeastPage = 512, kMostPage = 65536;
constexpr uint64_t kNoPage = std::numeric_limits<uint64_t>::max();
constexpr int kMostLevels = 32;

enum PageFlag : uint16_t { kBranch = 0x01, kLeaf = 0x02, kLarge = 0x04, kMeta = 0x08 };
enum NodeFlag : uint16_t { kLargeValue = 0x01, kDatabase = 0x02, kSeveral = 0x04 };
enum DatabaseFlag : uint16_t { kSeveralForKey = 0x04 };

// Where the fields of a page begin.
enum PageAt : size_t { kNumberAt = 0, kFlagsAt = 10, kLowerAt = 12, kUpperAt = 14 };

struct Meta {
  int64_t page_size = 0;
  uint64_t transaction = 0, last_page = 0, entries = 0, root = kNoPage;
  int levels = 0;
  uint16_t flags = 0;
};

// The meta page at the front of the bytes, or why it is none.
const char* parse_meta(ByteSpan page, Meta& meta) {
  constexpr uint32_t kMagic = 0xbeefc0de, kVersion = 1;
  constexpr size_t kMagicAt = 16, kVersionAt = 20, kFreeAt = 40, kMainAt = 88, kLastAt = 136,
                   kTransactionAt = 144, kEnd = 152;
  if (page.size() < kEnd) return "the file ends within a meta page";
  if (number_at<uint32_t>(page, kMagicAt) != kMagic) return "this is no database of LMDB";
  if (number_at<uint32_t>(page, kVersionAt) != kVersion)
    return "the database has another version of LMDB's format than 1";
  if (!(number_at<uint16_t>(page, kFlagsAt) & kMeta)) return "the page is no meta page";
  meta.page_size = number_at<uint32_t>(page, kFreeAt);
  meta.flags = number_at<uint16_t>(page, kMainAt + 4);
  meta.levels = number_at<uint16_t>(page, kMainAt + 6);
  meta.entries = number_at<uint64_t>(page, kMainAt + 32);
  meta.root = number_at<uint64_t>(page, kMainAt + 40);
  meta.last_page = number_at<uint64_t>(page, kLastAt);
  meta.transaction = number_at<uint64_t>(page, kTransactionAt);
  if (meta.page_size < kLeastPage || meta.page_size > kMostPage ||
      !std::has_single_bit(static_cast<uint64_t>(meta.page_size)))
    return "the size of a page is no power of two from 512 to 65536";
  return nullptr;
}

class Walk {
 public:
  Walk(const Ranges& file, const std::function<void(ByteSpan, RecordPlace)>& found)
      : file_(file), found_(found) {}

  int64_t run() {
    read_meta();
    if (meta_.flags & kSeveralForKey)
      refuse(file_.name(), 0, "databases with several values for a key (DUPSORT) are not read");
    pages_ = static_cast<uint64_t>(file_.size() / meta_.page_size);
    visited_.resize(pages_);
    if (meta_.root != kNoPage) visit(meta_.root, 1);
    if (count_ != meta_.entries)
      refuse(file_.name(), 0,
             "the meta page counts " + std::to_string(meta_.entries) + " values, and there are " +
                 std::to_string(count_));
    return meta_.page_size;
  }

 private:
  [[noreturn]] void bad(uint64_t page, const std::string& what) const {
    const int64_t at = page < pages_ ? static_cast<int64_t>(page) * meta_.page_size : file_.size();
    refuse(file_.name(), at, "page " + std::to_string(page) + " " + what);
  }

  std::vector<uint8_t> head(int64_t offset) const {
    constexpr int64_t kRead = 160;
    std::vector<uint8_t> page(
        static_cast<size_t>(std::max<int64_t>(std::min(kRead, file_.size() - offset), 0)));
    file_.read(std::min(offset, file_.size()), page);
    return page;
  }

  // One of the two may be damaged, because LMDB writes them in turn.
  void read_meta() {
    Meta first, second;
    const std::vector<uint8_t> page = head(0);
    const char* why = parse_meta(page, first);
    std::optional<Meta> best;
    if (!why) best = first;
    // Where the first one is damaged, the place of the second one is not known.
    for (int64_t size = why ? kLeastPage : first.page_size;
         size <= (why ? kMostPage : first.page_size); size *= 2) {
      const std::vector<uint8_t> other = head(size);
      if (parse_meta(other, second) || second.page_size != size) continue;
      if (!best || second.transaction > best->transaction) best = second;
    }
    if (!best) refuse(file_.name(), 0, why);
    meta_ = *best;
  }

  std::vector<uint8_t> page_of(uint64_t number) {
    if (number < 2 || number > meta_.last_page) bad(number, "is no page of the database");
    if (number >= pages_)
      bad(number,
          "lies behind the end of the file, which has " + std::to_string(file_.size()) + " bytes");
    if (visited_[number]) bad(number, "is in the tree twice");
    visited_[number] = true;
    std::vector<uint8_t> page(static_cast<size_t>(meta_.page_size));
    file_.read(static_cast<int64_t>(number) * meta_.page_size, page);
    if (number_at<uint64_t>(page, kNumberAt) != number)
      bad(number, "says that it is page " + std::to_string(number_at<uint64_t>(page, kNumberAt)));
    return page;
  }

  void visit(uint64_t number, int level) {
    if (level > meta_.levels || level > kMostLevels)
      bad(number, "lies below the " + std::to_string(meta_.levels) + " levels of the tree");
    const std::vector<uint8_t> page = page_of(number);
    const auto flags = number_at<uint16_t>(page, kFlagsAt);
    // A page of 65536 bytes cannot say its size in 16 bits.
    const size_t lower = number_at<uint16_t>(page, kLowerAt);
    const bool is_branch = flags & kBranch;
    if (is_branch == bool(flags & kLeaf) || (flags & (kLarge | kMeta)))
      bad(number, "is neither a branch nor a leaf");
    if (is_branch == (level == meta_.levels))
      bad(number, "is a " + std::string(is_branch ? "branch" : "leaf") + " on level " +
                      std::to_string(level) + " of " + std::to_string(meta_.levels));
    if (lower < kPageHead || lower > page.size() || lower % 2 != 0)
      bad(number, "has a list of places that ends at byte " + std::to_string(lower));
    for (size_t at = kPageHead; at < lower; at += 2) {
      const size_t node = number_at<uint16_t>(page, at);
      if (node < lower || node > page.size() - kNodeHead)
        bad(number, "has an entry at byte " + std::to_string(node));
      if (is_branch) {
        visit(branch_target(ByteSpan(page).subspan(node)), level + 1);
      } else {
        take_value(number, page, node);
      }
    }
  }

  static uint64_t branch_target(ByteSpan node) {
    return number_at<uint32_t>(node, 0) | uint64_t{number_at<uint16_t>(node, 4)} << 32;
  }

  void take_value(uint64_t number, ByteSpan page, size_t at) {
    const ByteSpan node = page.subspan(at);
    const size_t size = number_at<uint32_t>(node, 0);
    const auto flags = number_at<uint16_t>(node, 4);
    const size_t key_size = number_at<uint16_t>(node, 6);
    if (flags & (kDatabase | kSeveral))
      bad(number, "holds a named database or several values for a key, which are not read");
    const bool is_large = flags & kLargeValue;
    const size_t inside = is_large ? sizeof(uint64_t) : size;
    if (key_size > node.size() - kNodeHead || inside > node.size() - kNodeHead - key_size)
      bad(number, "has an entry that reaches beyond it, at byte " + std::to_string(at));
    const ByteSpan key = node.subspan(kNodeHead, key_size);
    const size_t value = kNodeHead + key_size;
    RecordPlace place{
        static_cast<int64_t>(number) * meta_.page_size + static_cast<int64_t>(at + value),
        static_cast<int64_t>(size)};
    if (is_large) place = large_place(number_at<uint64_t>(node, value), size);
    ++count_;
    found_(key, place);
  }

  RecordPlace large_place(uint64_t first, size_t size) {
    const auto page_size = static_cast<uint64_t>(meta_.page_size);
    const uint64_t pages = (kPageHead + size + page_size - 1) / page_size;
    if (first < 2 || first > meta_.last_page) bad(first, "is no page of the database");
    if (first >= pages_ || pages > pages_ - first)
      bad(first, "and those behind it, with a value of " + std::to_string(size) +
                     " bytes, end behind the end of the file, which has " +
                     std::to_string(file_.size()) + " bytes");
    return {static_cast<int64_t>(first * page_size), static_cast<int64_t>(kPageHead + size)};
  }

  const Ranges& file_;
  const std::function<void(ByteSpan, RecordPlace)>& found_;
  Meta meta_;
  uint64_t pages_ = 0, count_ = 0;
  std::vector<bool> visited_;
};

}  // namespace

int64_t find_lmdb_values(const Ranges& file,
                         const std::function<void(ByteSpan key, RecordPlace place)>& found) {
  return Walk(file, found).run();
}

ByteSpan lmdb_value(ByteSpan bytes, RecordPlace place, int64_t page_size, const std::string& name) {
  // A large value begins with its page. So does an empty one at the end of the page before.
  const bool is_large =
      place.offset % page_size == 0 && place.size >= static_cast<int64_t>(kPageHead);
  if (!is_large) return bytes;
  const std::string page = "page " + std::to_string(place.offset / page_size);
  if (bytes.size() < kPageHead)
    refuse(name, place.offset, page + " is too short for a large value");
  if (number_at<uint64_t>(bytes, kNumberAt) != static_cast<uint64_t>(place.offset / page_size) ||
      !(number_at<uint16_t>(bytes, kFlagsAt) & kLarge))
    refuse(name, place.offset, page + " holds no large value");
  const auto pages = number_at<uint32_t>(bytes, kLowerAt);
  if (static_cast<uint64_t>(pages) * static_cast<uint64_t>(page_size) < bytes.size())
    refuse(name, place.offset,
           page + " counts " + std::to_string(pages) + " pages, too few for a value of " +
               std::to_string(bytes.size() - kPageHead) + " bytes");
  return bytes.subspan(kPageHead);
}

std::string lmdb_file(const std::string& path) {
  std::error_code ignored;  // what cannot be looked up cannot be opened either, which tells why
  return std::filesystem::is_directory(path, ignored) ? io::join_path(path, "data.mdb") : path;
}

}  // namespace stoker::stores
