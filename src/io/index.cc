// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "io/index.h"

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
#include "io/crc32c.h"
#include "io/file.h"

namespace stoker::io {

namespace {

// What an index begins with: of 64 bytes, so that the entries behind it are aligned.
struct Head {
  char magic[16] = {'s', 't', 'o', 'k', 'e', 'r', ' ', 'i', 'n', 'd', 'e', 'x', ' ', '1', '\n', 0};
  uint64_t kind = 0;  // hash of its name
  int64_t size = 0, changed = 0;  // of the file, the time in nanoseconds
  int64_t count = 0;
  uint64_t unused = 0;
  uint32_t entries_sum = 0;
  uint32_t head_sum = 0;  // of all before it
};
static_assert(sizeof(Head) == 64 && sizeof(IndexEntry) == 16);

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

std::vector<std::string> usual_files(const std::string& path) {
  std::error_code ignored;  // where there is no folder, writing fails
  const std::string whole = std::filesystem::absolute(path, ignored).string();
  char name[17];
  std::snprintf(name, sizeof name, "%016llx", static_cast<unsigned long long>(hash64(whole)));
  const auto in = [&](const std::string& folder) { return folder + "/" + name + ".stoker-index"; };
  if (const char* given = std::getenv("STOKER_INDEX_DIR"); given && *given) return {in(given)};
  std::vector<std::string> files = {path + ".stoker-index"};
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  std::string folder;
  if (cache && *cache) folder = cache;
  else if (home && *home) folder = std::string(home) + "/.cache";
  if (!folder.empty()) files.push_back(in(folder + "/stoker"));
  return files;
}

}  // namespace

RecordIndex::RecordIndex(std::vector<IndexEntry> entries)
    : own_(std::move(entries)), entries_(own_) {}

RecordIndex::~RecordIndex() {
  if (map_) ::munmap(map_, length_);
}

// The index under a name, if it is whole and begins with what is expected; else null.
std::shared_ptr<const RecordIndex> RecordIndex::map(const std::string& file,
                                                    std::span<const uint8_t> expected) {
  const Descriptor fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info;
  if (!fd || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return nullptr;
  const auto length = static_cast<size_t>(info.st_size);
  if (length < sizeof(Head)) return nullptr;
  void* const at = ::mmap(nullptr, length, PROT_READ, MAP_SHARED, fd.get(), 0);
  if (at == MAP_FAILED) return nullptr;
  const auto* const head = static_cast<const Head*>(at);
  const auto* const first = reinterpret_cast<const IndexEntry*>(head + 1);
  const size_t bytes = length - sizeof(Head);
  std::shared_ptr<const RecordIndex> index(
      new RecordIndex(at, length, {first, bytes / sizeof(IndexEntry)}));
  const bool fits = std::memcmp(head, expected.data(), expected.size()) == 0 &&
                    head->head_sum == sum_of(*head) && bytes % sizeof(IndexEntry) == 0 &&
                    head->count >= 0 &&
                    static_cast<size_t>(head->count) == bytes / sizeof(IndexEntry) &&
                    head->entries_sum == crc32c(bytes_of(first, bytes));
  return fits ? index : nullptr;
}

std::shared_ptr<const RecordIndex> RecordIndex::of(
    const std::string& path, const std::string& kind,
    const std::function<std::vector<IndexEntry>()>& find, const std::vector<std::string>& files) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0)
    throw SampleError("cannot look up '" + path +
                      "': " + std::error_code(errno, std::generic_category()).message());
  Head head;
  head.kind = hash64(kind);
  head.size = info.st_size;
  constexpr int64_t kSecond = 1'000'000'000;
  head.changed = info.st_mtim.tv_sec * kSecond + info.st_mtim.tv_nsec;
  const std::vector<std::string> names = files.empty() ? usual_files(path) : files;
  const std::span<const uint8_t> expected = bytes_of(&head, offsetof(Head, count));
  for (const std::string& name : names)
    if (auto index = map(name, expected)) return index;
  std::vector<IndexEntry> entries = find();
  head.count = static_cast<int64_t>(entries.size());
  head.entries_sum = crc32c(bytes_of(entries.data(), entries.size() * sizeof(IndexEntry)));
  head.head_sum = sum_of(head);
  for (const std::string& name : names) {
    std::error_code ignored;  // then it cannot be written either
    // The folder of the file is there, and others are made.
    if (name != path + ".stoker-index")
      std::filesystem::create_directories(std::filesystem::path(name).parent_path(), ignored);
    if (!replace_file(name, {bytes_of(&head, sizeof head),
                             bytes_of(entries.data(), entries.size() * sizeof(IndexEntry))}))
      continue;
    if (auto index = map(name, expected)) return index;
  }
  return std::make_shared<const RecordIndex>(std::move(entries));
}

}  // namespace stoker::io
