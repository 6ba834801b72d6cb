// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The members of a tar archive: POSIX ustar and pax, GNU's and the seventh edition's.
//
//   header of 512 bytes | data, padded to 512 | header | data | ... | a header of zeros
//   header:  name:100 mode:8 owner:8 group:8 size:12 time:12 sum:8 type:1 link:100 "ustar" 0:1 "00"
//            owner's name:32 group's:32 device:8 device:8 prefix of the name:155
//
// Numbers are octal digits, or big-endian where their first bit is set.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace stoker::io {

inline constexpr int64_t kTarBlock = 512;  // members begin with one

// A regular file in an archive. Folders, links and other kinds have no data and do not count.
struct TarMember {
  std::string name;
  int64_t offset = 0, size = 0;  // of its data
};

class TarReader {
 public:
  // Fills the span with what lies at `offset` and returns how many bytes are there. Offsets only
  // grow, so that a compressed archive can be read in one go.
  using ReadAt = std::function<size_t(int64_t offset, std::span<uint8_t> into)>;

  // `path`: for messages. `begin`: where a header begins.
  TarReader(std::string path, ReadAt read_at, int64_t begin = 0)
      : path_(std::move(path)), read_at_(std::move(read_at)), at_(begin) {}

  // The next member; nothing at the archive's end, which need not be marked. Throws SampleError,
  // with the offset, where a header is damaged or cut off, and what `read_at` throws. Data
  // that ends too soon is not found here: the caller knows how much there is.
  std::optional<TarMember> next();

 private:
  std::string read_text(int64_t offset, int64_t size, const char* what);
  void read_pax(std::string_view records);
  [[noreturn]] void fail(const std::string& why, int64_t offset) const;

  const std::string path_;
  const ReadAt read_at_;
  int64_t at_;  // where the next header begins
  // What headers before it say of the next member.
  std::optional<std::string> next_name_;
  std::optional<int64_t> next_size_;
};

// Whether a block is the header of a file of this name and size that no other header extends.
bool is_tar_header(std::span<const uint8_t> block, std::string_view name, int64_t size);

// The member whose data begins at `offset`, by the header before it. Where `is_right` says no,
// earlier headers that may give it another name or size are looked for. Nothing where no header is.
// Throws what `read_at` throws; here its offsets come in any order.
std::optional<TarMember> tar_member_at(int64_t offset, const TarReader::ReadAt& read_at,
                                       const std::function<bool(const TarMember&)>& is_right);

}  // namespace stoker::io
