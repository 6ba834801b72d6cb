// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The members of a tar archive: POSIX ustar and pax, GNU's and the seventh edition's.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace stoker::io {

// A regular file in an archive. Folders, links and other kinds have no data and do not count.
struct TarMember {
  std::string name;
  int64_t offset = 0, size = 0;  // of its data
};

// Finds the members one after the other. One thread at a time.
class TarReader {
 public:
  // Fills the span with what lies at `offset` and returns how many bytes are there. Offsets only
  // grow, so that a compressed archive can be read in one go.
  using ReadAt = std::function<size_t(int64_t offset, std::span<uint8_t> into)>;

  // `path`: for messages.
  TarReader(std::string path, ReadAt read_at)
      : path_(std::move(path)), read_at_(std::move(read_at)) {}

  // The next member; nothing at the archive's end, which need not be marked. Throws SampleError,
  // with the offset, where a header is damaged or ends too soon, and what `read_at` throws. Data
  // that ends too soon is not found here: the caller knows how much there is.
  std::optional<TarMember> next();

 private:
  std::string read_text(int64_t offset, int64_t size, const char* what);
  void read_pax(std::string_view records);
  [[noreturn]] void fail(const std::string& why, int64_t offset) const;

  const std::string path_;
  const ReadAt read_at_;
  int64_t at_ = 0;  // where the next header begins
  // What headers before it say of the next member.
  std::optional<std::string> next_name_;
  std::optional<int64_t> next_size_;
};

}  // namespace stoker::io
