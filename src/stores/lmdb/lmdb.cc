// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/lmdb/lmdb.h"

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
  const ForeignBytes b(page, ByteOrder::kLittle);
  if (b.from(kMagicAt).u32() != kMagic) return "this is no database of LMDB";
  if (b.from(kVersionAt).u32() != kVersion)
    return "the database has another version of LMDB's format than 1";
  if (!(b.from(kFlagsAt).u16() & kMeta)) return "the page is no meta page";
  meta.page_size = b.from(kFreeAt).u32();
  ForeignBytes main = b.from(kMainAt + 4);
  meta.flags = main.u16();
  meta.levels = main.u16();
  main.skip(24);  // counts of pages
  meta.entries = main.u64();
  meta.root = main.u64();
  meta.last_page = b.from(kLastAt).u64();
  meta.transaction = b.from(kTransactionAt).u64();
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
    // If the first one is damaged, the place of the second one is not known.
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
    const uint64_t said = ForeignBytes(page, ByteOrder::kLittle).from(kNumberAt).u64();
    if (said != number) bad(number, "says that it is page " + std::to_string(said));
    return page;
  }

  void visit(uint64_t number, int level) {
    if (level > meta_.levels || level > kMostLevels)
      bad(number, "lies below the " + std::to_string(meta_.levels) + " levels of the tree");
    const std::vector<uint8_t> page = page_of(number);
    const ForeignBytes all(page, ByteOrder::kLittle);
    const int flags = all.from(kFlagsAt).u16();
    // A page of 65536 bytes cannot say its size in 16 bits.
    const size_t lower = all.from(kLowerAt).u16();
    const bool is_branch = flags & kBranch;
    if (is_branch == bool(flags & kLeaf) || (flags & (kLarge | kMeta)))
      bad(number, "is neither a branch nor a leaf");
    if (is_branch == (level == meta_.levels))
      bad(number, "is a " + std::string(is_branch ? "branch" : "leaf") + " on level " +
                      std::to_string(level) + " of " + std::to_string(meta_.levels));
    if (lower < kPageHead || lower > page.size() || lower % 2 != 0)
      bad(number, "has a list of places that ends at byte " + std::to_string(lower));
    for (ForeignBytes places = all.from(kPageHead).part(lower - kPageHead); places.left() > 0;) {
      const size_t node = places.u16();
      if (node < lower || node > page.size() - kNodeHead)
        bad(number, "has an entry at byte " + std::to_string(node));
      if (is_branch) visit(all.from(node).number(6), level + 1);
      else take_value(number, all.from(node));
    }
  }

  // Requires: the node's head is there.
  void take_value(uint64_t number, ForeignBytes node) {
    const size_t at = node.at(), size = node.u32();
    const int flags = node.u16();
    const size_t key_size = node.u16();
    if (flags & (kDatabase | kSeveral))
      bad(number, "holds a named database or several values for a key, which are not read");
    const bool is_large = flags & kLargeValue;
    const size_t inside = is_large ? sizeof(uint64_t) : size;
    if (!node.has(key_size) || inside > node.left() - key_size)
      bad(number, "has an entry that reaches beyond it, at byte " + std::to_string(at));
    const ByteSpan key = node.bytes(key_size);
    RecordPlace place{
        static_cast<int64_t>(number) * meta_.page_size + static_cast<int64_t>(node.at()),
        static_cast<int64_t>(size)};
    if (is_large) place = large_place(node.u64(), size);
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
  const ForeignBytes head(bytes, ByteOrder::kLittle);
  if (head.from(kNumberAt).u64() != static_cast<uint64_t>(place.offset / page_size) ||
      !(head.from(kFlagsAt).u16() & kLarge))
    refuse(name, place.offset, page + " holds no large value");
  const uint32_t pages = head.from(kLowerAt).u32();
  if (static_cast<uint64_t>(pages) * static_cast<uint64_t>(page_size) < bytes.size())
    refuse(name, place.offset,
           page + " counts " + std::to_string(pages) + " pages, too few for a value of " +
               std::to_string(bytes.size() - kPageHead) + " bytes");
  return bytes.subspan(kPageHead);
}

std::string lmdb_file(const std::string& path) {
  return io::is_folder(path) ? io::join_path(path, "data.mdb") : path;
}

}  // namespace stoker::stores
