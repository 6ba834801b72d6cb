// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "io/kept_bytes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/error.h"
#include "base/hash.h"
#include "base/hex.h"
#include "io/crc32c.h"
#include "io/local_files.h"

namespace stoker::io {

namespace {

// What the file begins with. It has 64 bytes, so that what is behind it is aligned.
struct Head {
  char magic[16] = {'s', 't', 'o', 'k', 'e', 'r', ' ', 'i', 'n', 'd', 'e', 'x', ' ', '2', '\n', 0};
  uint64_t kind = 0;  // hash of its name
  int64_t size = 0, changed = 0;  // of the file, the time in nanoseconds
  int64_t length = 0;  // of what is behind it
  uint64_t unused = 0;
  uint32_t sum = 0;  // of what is behind it
  uint32_t head_sum = 0;  // of all before it
};
static_assert(sizeof(Head) == 64);

std::span<const uint8_t> bytes_of(const void* data, size_t size) {
  return {static_cast<const uint8_t*>(data), size};
}
uint32_t sum_of(const Head& head) { return crc32c(bytes_of(&head, offsetof(Head, head_sum))); }

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

std::vector<std::string> usual_names(const std::string& path) {
  const bool is_local = origin_of(path).scheme().empty();
  std::error_code ignored;  // where there is no folder, writing fails
  const std::string whole = is_local ? std::filesystem::absolute(path, ignored).string() : path;
  const std::string name = hex(hash64(whole));
  const auto in = [&](const std::string& folder) { return folder + "/" + name + ".stoker-index"; };
  if (const char* given = std::getenv("STOKER_INDEX_DIR"); given && *given) return {in(given)};
  std::vector<std::string> names;
  if (is_local) names.push_back(path + ".stoker-index");
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  std::string folder;
  if (cache && *cache) folder = cache;
  else if (home && *home) folder = std::string(home) + "/.cache";
  if (!folder.empty()) names.push_back(in(folder + "/stoker"));
  return names;
}

class Map {
 public:
  Map(const Descriptor& fd, size_t length)
      : at_(::mmap(nullptr, length, PROT_READ, MAP_SHARED, fd.get(), 0)), length_(length) {}
  ~Map() {
    if (*this) ::munmap(at_, length_);
  }
  Map(const Map&) = delete;
  Map& operator=(const Map&) = delete;
  explicit operator bool() const { return at_ != MAP_FAILED; }
  const void* get() const { return at_; }
  // Lets the system take the pages back. They are then used one here and one there.
  void forget() const {
    ::madvise(at_, length_, MADV_DONTNEED);
    ::madvise(at_, length_, MADV_RANDOM);
  }

 private:
  void* const at_;
  const size_t length_;
};

// The bytes of an open file in memory of their own; null where it became shorter.
std::shared_ptr<const void> copied(const Descriptor& fd, size_t length) {
  const auto copy = std::make_shared_for_overwrite<uint64_t[]>((length + 7) / 8);
  auto* const bytes = reinterpret_cast<char*>(copy.get());
  for (size_t at = 0; at < length;) {
    const ssize_t got = ::pread(fd.get(), bytes + at, length - at, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return nullptr;
    at += static_cast<size_t>(got);
  }
  return copy;
}

// What is kept under a name, if it is whole and begins with what is expected; else nothing.
KeptBytes found(const std::string& name, std::span<const uint8_t> expected) {
  const Descriptor fd(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info;
  if (!fd || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  const auto length = static_cast<size_t>(info.st_size);
  if (length < sizeof(Head)) return {};
  std::shared_ptr<const Map> map;
  std::shared_ptr<const void> owner;
  if (length <= kMostCopied) {
    owner = copied(fd, length);
  } else if (map = std::make_shared<const Map>(fd, length); *map) {
    owner = {map, map->get()};
  }
  if (!owner) return {};
  const auto* const head = static_cast<const Head*>(owner.get());
  const std::span<const uint8_t> behind = bytes_of(head + 1, length - sizeof(Head));
  const bool fits =
      std::memcmp(head, expected.data(), expected.size()) == 0 && head->head_sum == sum_of(*head) &&
      head->length == static_cast<int64_t>(behind.size()) && head->sum == crc32c(behind);
  if (!fits) return {};
  if (map) map->forget();
  return {std::move(owner), behind, head->sum, name};
}

}  // namespace

KeptBytes kept_bytes(const std::string& path, const std::string& kind,
                     const std::function<KeptBytes()>& make,
                     const std::vector<std::string>& names) {
  const PathInfo info = look_up(path);
  Head head;
  head.kind = hash64(kind);
  head.size = info.size;
  head.changed = info.changed;
  const std::vector<std::string> all = names.empty() ? usual_names(path) : names;
  const std::span<const uint8_t> expected = bytes_of(&head, offsetof(Head, length));
  for (const std::string& name : all)
    if (KeptBytes kept = found(name, expected); kept.owner) return kept;
  KeptBytes made = make();
  made.sum = crc32c(made.bytes);
  if (!made.may_be_kept) return made;
  head.length = static_cast<int64_t>(made.bytes.size());
  head.sum = made.sum;
  head.head_sum = sum_of(head);
  for (const std::string& name : all) {
    std::error_code ignored;  // then it cannot be written either
    if (name != path + ".stoker-index")
      std::filesystem::create_directories(std::filesystem::path(name).parent_path(), ignored);
    if (!replace_file(name, {bytes_of(&head, sizeof head), made.bytes})) continue;
    if (KeptBytes kept = found(name, expected); kept.owner) return kept;
  }
  return made;
}

}  // namespace stoker::io
