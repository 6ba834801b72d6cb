// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "io/tar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <vector>

#include "base/content.h"
#include "base/error.h"
#include "base/foreign_bytes.h"

namespace stoker::io {

namespace {

using Header = std::array<uint8_t, kTarBlock>;

std::string_view field(const Header& h, size_t at, size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(h.data()) + at, size);
  return all.substr(0, all.find('\0'));
}

// Octal digits between blanks or, where the first bit is set, a binary number.
std::optional<int64_t> number(const Header& h, size_t at, size_t size) {
  if (h[at] & 0x80) {
    constexpr size_t kWord = sizeof(uint64_t);
    ForeignBytes b = ForeignBytes(h, ByteOrder::kBig).from(at);
    uint64_t high = b.number(size - kWord), low = b.u64();
    // That bit, the highest of 8 or 12 bytes, is no part of the number.
    if (size == kWord) low &= INT64_MAX;
    else high &= INT32_MAX;
    if (high != 0 || low >> 62) return std::nullopt;
    return static_cast<int64_t>(low);
  }
  std::string_view digits = field(h, at, size);
  while (digits.starts_with(' ')) digits.remove_prefix(1);
  while (digits.ends_with(' ')) digits.remove_suffix(1);
  if (digits.empty()) return 0;
  int64_t n = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n, 8);
  if (error != std::errc() || end != digits.data() + digits.size() || n < 0) return std::nullopt;
  return n;
}

constexpr size_t kNameAt = 0, kName = 100, kSizeAt = 124, kSize = 12, kSumAt = 148, kSum = 8,
                 kTypeAt = 156, kMagicAt = 257, kPrefixAt = 345, kPrefix = 155;

// The sum of a header's bytes. Eight at a time: the sums of four do not fill 16 bits.
int64_t sum_of(const Header& h) {
  constexpr uint64_t kEven = 0x00ff00ff00ff00ff;
  uint64_t sums = 0;
  for (size_t at = 0; at < h.size(); at += sizeof(uint64_t)) {
    uint64_t bytes;
    std::memcpy(&bytes, &h[at], sizeof bytes);
    sums += (bytes & kEven) + (bytes >> 8 & kEven);
  }
  int64_t sum = 0;
  for (; sums; sums >>= 16) sum += static_cast<int64_t>(sums & 0xffff);
  return sum;
}

// Blanks take the place of the stored sum. Some writers took bytes as signed.
bool has_right_sum(const Header& h) {
  const std::optional<int64_t> stored = number(h, kSumAt, kSum);
  if (!stored) return false;
  int64_t sum = sum_of(h) + int64_t{' '} * kSum;
  for (size_t i = 0; i < kSum; ++i) sum -= h[kSumAt + i];
  if (*stored == sum) return true;
  for (size_t i = 0; i < h.size(); ++i)
    if (h[i] >= 128 && (i < kSumAt || i >= kSumAt + kSum)) sum -= 256;
  return *stored == sum;
}

// The folder of the name where the header has it by itself, in ustar only.
std::string_view prefix_of(const Header& h) {
  const std::string_view magic(reinterpret_cast<const char*>(h.data()) + kMagicAt, 6);
  return magic == std::string_view("ustar\0", 6) ? field(h, kPrefixAt, kPrefix)
                                                 : std::string_view();
}

bool is_file(char type) { return type == '0' || type == '\0' || type == '7'; }

}  // namespace

void TarReader::fail(const std::string& why, int64_t offset) const {
  throw SampleError(
      "the archive '" + path_ + "' is damaged at byte " + std::to_string(offset) + ": " + why,
      offset);
}

std::optional<TarMember> TarReader::next() {
  for (;;) {
    Header h;
    const int64_t begin = at_;
    const size_t got = read_at_(begin, h);
    if (got == 0) return std::nullopt;
    if (got < h.size()) fail("it ends after " + std::to_string(got) + " bytes of a header", begin);
    if (std::all_of(h.begin(), h.end(), [](uint8_t c) { return c == 0; })) return std::nullopt;
    if (!has_right_sum(h)) {
      const std::string content = begin ? "" : describe_content(h);
      const bool is_other = !begin && content != "a tar archive";
      fail("the checksum of a header is wrong" +
               (is_other ? ", unless this is no tar archive: found " + content : ""),
           begin);
    }
    const std::optional<int64_t> stored = number(h, kSizeAt, kSize);
    if (!stored || *stored > INT64_MAX / 4) fail("the size of a member is no number", begin);

    const char type = static_cast<char>(h[kTypeAt]);
    const bool is_extension = type == 'x' || type == 'g' || type == 'L' || type == 'K';
    // A pax header gives the next member another size, but not itself.
    int64_t size = is_extension ? *stored : next_size_.value_or(*stored);
    const bool has_data = type < '1' || type > '6';
    if (!has_data) size = 0;
    const int64_t data = begin + kTarBlock;
    if (size > INT64_MAX / 4 || data > INT64_MAX / 4)
      fail("a member claims " + std::to_string(size) + " bytes", begin);
    at_ = data + (size + kTarBlock - 1) / kTarBlock * kTarBlock;

    if (type == 'x') {
      read_pax(read_text(data, size, "a pax header"));
      continue;
    }
    if (type == 'L') {
      const std::string name = read_text(data, size, "a long name");
      next_name_ = name.substr(0, name.find('\0'));
      continue;
    }
    if (is_extension) continue;  // the long name of a link, or a pax header for all members
    std::string name(field(h, kNameAt, kName));
    if (const std::string_view prefix = prefix_of(h); !prefix.empty())
      name = std::string(prefix) + "/" + name;
    if (next_name_) name = std::move(*next_name_);
    next_name_.reset();
    next_size_.reset();
    if (is_file(type) && !name.ends_with('/')) return TarMember{std::move(name), data, size};
  }
}

std::string TarReader::read_text(int64_t offset, int64_t size, const char* what) {
  constexpr int64_t kMost = 1 << 20;
  if (size > kMost) fail(std::string(what) + " claims " + std::to_string(size) + " bytes", offset);
  std::string text(static_cast<size_t>(size), '\0');
  const size_t got = read_at_(offset, {reinterpret_cast<uint8_t*>(text.data()), text.size()});
  if (got < text.size()) fail(std::string("it ends within ") + what, offset);
  return text;
}

// Records are "<length> <key>=<value>\n", and the length counts all of that.
void TarReader::read_pax(std::string_view records) {
  const auto fail_here = [&] { fail("a record of a pax header has no right length", at_); };
  while (!records.empty() && records[0] != '\0') {
    size_t length = 0;
    const auto [end, error] =
        std::from_chars(records.data(), records.data() + records.size(), length);
    const auto digits = static_cast<size_t>(end - records.data());
    if (error != std::errc() || length > records.size() || length < digits + 3 ||
        records[digits] != ' ' || records[length - 1] != '\n')
      fail_here();
    const std::string_view record = records.substr(digits + 1, length - digits - 2);
    const size_t equals = record.find('=');
    if (equals == std::string_view::npos) fail_here();
    const std::string_view key = record.substr(0, equals), value = record.substr(equals + 1);
    if (key == "path") next_name_ = std::string(value);
    if (key == "size") {
      int64_t size = 0;
      const auto [last, wrong] = std::from_chars(value.data(), value.data() + value.size(), size);
      if (wrong != std::errc() || last != value.data() + value.size() || size < 0) fail_here();
      next_size_ = size;
    }
    records.remove_prefix(length);
  }
}

bool is_tar_header(std::span<const uint8_t> header, std::string_view name, int64_t size) {
  Header h;
  if (header.size() != h.size()) return false;
  std::copy(header.begin(), header.end(), h.begin());
  if (number(h, kSizeAt, kSize) != size || !is_file(static_cast<char>(h[kTypeAt]))) return false;
  if (const std::string_view prefix = prefix_of(h); !prefix.empty()) {
    if (!name.starts_with(prefix) || name.substr(prefix.size(), 1) != "/") return false;
    name.remove_prefix(prefix.size() + 1);
  }
  return name == field(h, kNameAt, kName) && has_right_sum(h);
}

std::optional<TarMember> tar_member_at(int64_t offset, const TarReader::ReadAt& read_at,
                                       const std::function<bool(const TarMember&)>& is_right) {
  constexpr int64_t kFarthest = 64 * kTarBlock;  // a long name, or a pax header with many records
  std::optional<TarMember> by_header;
  std::vector<uint8_t> before;
  // The member whose header, or the first one that extends it, lies so far back.
  const auto from = [&](int64_t back) -> std::optional<TarMember> {
    const auto read_before = [&](int64_t at, std::span<uint8_t> into) {
      const auto rest =
          std::span(before).last(static_cast<size_t>(std::max<int64_t>(offset - at, 0)));
      const size_t n = std::min(rest.size(), into.size());
      std::copy_n(rest.begin(), n, into.begin());
      return n;
    };
    try {
      std::optional<TarMember> m = TarReader("", read_before, offset - back).next();
      if (m && m->offset == offset) return m;
    } catch (const SampleError&) {  // NOLINT(bugprone-empty-catch): no header begins there
    }
    return std::nullopt;
  };
  for (const int64_t room : {kTarBlock, std::min(offset, kFarthest)}) {
    before.resize(static_cast<size_t>(room));
    if (offset < room || read_at(offset - room, before) < before.size()) return std::nullopt;
    for (int64_t back = kTarBlock; back <= room; back += kTarBlock) {
      std::optional<TarMember> m = from(back);
      if (m && is_right(*m)) return m;
      if (back == kTarBlock) by_header = std::move(m);
    }
    if (!by_header) return std::nullopt;
  }
  return by_header;
}

}  // namespace stoker::io
