// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "io/local_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <new>
#include <system_error>

#include "base/error.h"
#include "io/faults.h"

namespace stoker::io {

namespace {

[[noreturn]] void fail(const std::string& doing, const std::string& path, const std::string& why,
                       int64_t offset = -1) {
  const std::string where = offset >= 0 ? " at byte " + std::to_string(offset) : "";
  throw SampleError("cannot " + doing + " '" + path + "'" + where + ": " + why, offset);
}
std::string reason(int error) { return std::error_code(error, std::generic_category()).message(); }

// Calls f until it is not interrupted. Returns 0, or the errno that it failed with.
template <class F>
int retried(F f) {
  int error;
  do error = f() ? 0 : errno;
  while (error == EINTR);
  return error;
}

// Too many open files are not the sample's fault.
[[noreturn]] void fail_for_open_files(const std::string& path, int error) {
  rlimit most{};
  ::getrlimit(RLIMIT_NOFILE, &most);
  throw BudgetError("cannot open '" + path + "': " + reason(error) + "; this process may have " +
                    std::to_string(most.rlim_cur) +
                    " open at once, and each archive and each file of records stays open: raise "
                    "the limit, as with ulimit -n");
}

int open_fd(const std::string& path) {
  if (path.find('\0') != std::string::npos)
    fail("open", path.c_str(), "the name holds a zero byte");
  int fd = -1;
  const int error = retried([&] {
    if (FaultInjector* f = faults())
      if (const int injected = f->on_open(path)) {
        errno = injected;
        return false;
      }
    // O_NONBLOCK keeps a pipe from blocking the reader for good. Regular files ignore it.
    fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    return fd >= 0;
  });
  if (error == EMFILE || error == ENFILE) fail_for_open_files(path, error);
  if (error) fail("open", path, reason(error));
  return fd;
}

// A lack of memory is not the sample's fault, but the message should name the sample.
void reserve(ByteBuffer& buffer, size_t bytes, const std::string& path) {
  try {
    buffer.reserve(bytes);
  } catch (const std::bad_alloc&) {
    throw BudgetError("no memory for " + std::to_string(bytes) + " bytes of '" + path + "'");
  }
}

// A regular file, open for reading. Thread-safe.
class File final : public Object {
 public:
  explicit File(std::string path);
  ~File() override;
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const std::string& path() const override { return path_; }
  int64_t size() const override { return size_; }
  void append(ByteBuffer& into, int64_t offset, int64_t length) const override;
  void read_to(std::span<std::byte> into, int64_t offset) const override;

 private:
  size_t read_some(std::byte* into, int64_t offset, size_t count) const;
  void read_exactly(ByteBuffer& into, int64_t offset, size_t length) const;
  void read_to_end(ByteBuffer& into, int64_t offset) const;
  [[noreturn]] void refuse(size_t got, int64_t offset, size_t length) const;

  std::string path_;
  int fd_;
  int64_t size_;
};

File::File(std::string path) : path_(std::move(path)), fd_(open_fd(path_)) {
  struct stat info;
  std::string why;
  if (::fstat(fd_, &info) != 0) why = reason(errno);
  else if (S_ISDIR(info.st_mode)) why = "it is a folder";
  else if (!S_ISREG(info.st_mode)) why = "it is not a regular file";
  if (!why.empty()) {
    ::close(fd_);
    fail("read", path_, why);
  }
  size_ = info.st_size;
}

File::~File() { ::close(fd_); }

// As pread, it returns 0 at the end. Throws on failure.
size_t File::read_some(std::byte* into, int64_t offset, size_t count) const {
  count = std::min<size_t>(count, 1 << 30);
  ssize_t got = 0;
  FaultInjector* const f = faults();
  const int error = retried([&] {
    if (const int injected = f ? f->on_read(path_, offset, count) : 0) {
      errno = injected;
      return false;
    }
    got = count > 0 ? ::pread(fd_, into, count, offset) : 0;
    return got >= 0;
  });
  if (error) fail("read", path_, reason(error), offset);
  if (f) f->on_bytes(path_, offset, into, static_cast<size_t>(got));
  return static_cast<size_t>(got);
}

void File::append(ByteBuffer& into, int64_t offset, int64_t length) const {
  if (offset < 0 || length < -1) fail("read", path_, "a negative offset or length was asked for");
  if (length < 0) read_to_end(into, offset);
  else read_exactly(into, offset, static_cast<size_t>(length));
}

void File::read_exactly(ByteBuffer& into, int64_t offset, size_t length) const {
  // A false length is refused before it costs memory.
  if (length > static_cast<size_t>(std::max<int64_t>(size_ - offset, 0))) {
    struct stat info;  // the file may have grown since it was opened
    if (::fstat(fd_, &info) != 0) fail("read", path_, reason(errno));
    const int64_t now = std::max<int64_t>(info.st_size - offset, 0);
    if (length > static_cast<size_t>(now)) refuse(static_cast<size_t>(now), offset, length);
  }
  const size_t before = into.size();
  reserve(into, before + length, path_);
  read_to({into.data() + before, length}, offset);
  into.resize(before + length);
}

void File::read_to(std::span<std::byte> into, int64_t offset) const {
  size_t got = 0;
  while (got < into.size()) {
    const size_t n =
        read_some(into.data() + got, offset + static_cast<int64_t>(got), into.size() - got);
    if (n == 0) refuse(got, offset, into.size());
    got += n;
  }
}

void File::refuse(size_t got, int64_t offset, size_t length) const {
  fail("read", path_,
       "it ends after " + std::to_string(got) + " of " + std::to_string(length) +
           " bytes wanted from byte " + std::to_string(offset),
       offset + static_cast<int64_t>(got));
}

void File::read_to_end(ByteBuffer& into, int64_t offset) const {
  const auto expected = static_cast<size_t>(std::max<int64_t>(size_ - offset, 0));
  // One byte more than expected, so that a read that does not fill the room has seen the end.
  const size_t before = into.size();
  reserve(into, before + expected + 1, path_);
  size_t got = 0;
  for (;;) {
    const size_t asked = into.capacity() - before - got;
    const size_t n =
        read_some(into.data() + before + got, offset + static_cast<int64_t>(got), asked);
    got += n;
    into.resize(before + got);
    if (n == 0 || (n < asked && got == expected)) break;
    if (before + got == into.capacity()) reserve(into, into.size() + into.size() / 2, path_);
  }
  if (got < expected)
    fail("read", path_,
         "it became shorter while it was read: " + std::to_string(expected) + " bytes, then " +
             std::to_string(got),
         offset + static_cast<int64_t>(got));
}

struct CloseFolder {
  void operator()(DIR* d) const { ::closedir(d); }
};

bool is_folder(DIR* parent, const std::string& path, const dirent& entry) {
  if (entry.d_type == DT_DIR) return true;
  if (entry.d_type != DT_LNK && entry.d_type != DT_UNKNOWN) return false;
  struct stat info;
  if (::fstatat(::dirfd(parent), entry.d_name, &info, 0) == 0) return S_ISDIR(info.st_mode);
  if (errno != ENOENT && errno != ELOOP)
    fail("look up", join_path(path, entry.d_name), reason(errno));
  return false;
}

FolderId list_local_folder(const std::string& path, const std::function<void(FolderEntry)>& found,
                           int64_t most) {
  std::unique_ptr<DIR, CloseFolder> folder;
  const int error = retried([&] {
    FaultInjector* const f = faults();
    if (const int injected = f ? f->on_open(path) : 0) {
      errno = injected;
      return false;
    }
    folder.reset(::opendir(path.c_str()));
    return folder != nullptr;
  });
  struct stat info;
  if (error || ::fstat(::dirfd(folder.get()), &info) != 0)
    fail("list the folder", path, reason(error ? error : errno));
  while (most > 0) {
    errno = 0;
    const dirent* entry = ::readdir(folder.get());
    if (!entry && errno != 0) fail("list the folder", path, reason(errno));
    if (!entry) break;
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    found({name, is_folder(folder.get(), path, *entry)});
    --most;
  }
  return {info.st_dev, info.st_ino};
}

PathInfo look_up_local(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0)
    throw SampleError("cannot look up '" + path + "': " + reason(errno));
  // Unsigned, as the times of some files do not fit.
  constexpr uint64_t kSecond = 1'000'000'000;
  const auto changed = static_cast<uint64_t>(info.st_mtim.tv_sec) * kSecond +
                       static_cast<uint64_t>(info.st_mtim.tv_nsec);
  return {S_ISDIR(info.st_mode), info.st_size, static_cast<int64_t>(changed)};
}

class LocalFiles final : public Origin {
 public:
  std::string_view scheme() const override { return ""; }
  std::shared_ptr<const Object> open(const std::string& path) const override {
    return std::make_shared<const File>(path);
  }
  FolderId list(const std::string& path, const std::function<void(FolderEntry)>& found,
                int64_t most) const override {
    return list_local_folder(path, found, most);
  }
  PathInfo look_up(const std::string& path) const override { return look_up_local(path); }
};

bool write_all(int fd, std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return true;
}

}  // namespace

const Origin& local_files() {
  static const LocalFiles files;
  return files;
}

bool replace_file(const std::string& path, std::initializer_list<std::span<const uint8_t>> parts) {
  std::string part = path + ".XXXXXX";
  const int fd = ::mkostemp(part.data(), O_CLOEXEC);
  if (fd < 0) return false;
  constexpr mode_t kReadable = 0644;
  bool done = std::all_of(parts.begin(), parts.end(), [&](auto p) { return write_all(fd, p); });
  done = done && ::fchmod(fd, kReadable) == 0;
  done = ::close(fd) == 0 && done;
  done = done && ::rename(part.c_str(), path.c_str()) == 0;
  if (!done) ::unlink(part.c_str());
  return done;
}

}  // namespace stoker::io
