// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "io/tar.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/content.h"
#include "base/error.h"

namespace stoker::io {

namespace {

constexpr int64_t kBlock = 512;
using Header = std::array<uint8_t, kBlock>;

std::string_view field(const Header& h, size_t at, size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(h.data()) + at, size);
  return all.substr(0, all.find('\0'));
}

// Octal digits between blanks or, where the first bit is set, a binary number.
std::optional<int64_t> number(const Header& h, size_t at, size_t size) {
  if (h[at] & 0x80) {
    int64_t n = h[at] & 0x7f;
    for (size_t i = 1; i < size; ++i) {
      if (n >> 54) return std::nullopt;
      n = n << 8 | h[at + i];
    }
    return n;
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

// The sum of a header's bytes, with blanks where it is stored. Some writers took bytes as signed.
bool has_right_sum(const Header& h) {
  int64_t sum = 0, other = 0;
  for (size_t i = 0; i < h.size(); ++i) {
    const uint8_t c = i >= kSumAt && i < kSumAt + kSum ? ' ' : h[i];
    sum += c;
    other += static_cast<int8_t>(c);
  }
  const std::optional<int64_t> stored = number(h, kSumAt, kSum);
  return stored && (*stored == sum || *stored == other);
}

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
    const int64_t data = begin + kBlock;
    if (size > INT64_MAX / 4 || data > INT64_MAX / 4)
      fail("a member claims " + std::to_string(size) + " bytes", begin);
    at_ = data + (size + kBlock - 1) / kBlock * kBlock;

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
    const std::string_view magic(reinterpret_cast<const char*>(h.data()) + kMagicAt, 6);
    const std::string_view prefix = field(h, kPrefixAt, kPrefix);
    if (magic == std::string_view("ustar\0", 6) && !prefix.empty())
      name = std::string(prefix) + "/" + name;
    if (next_name_) name = std::move(*next_name_);
    next_name_.reset();
    next_size_.reset();
    const bool is_file = type == '0' || type == '\0' || type == '7';
    if (is_file && !name.ends_with('/')) return TarMember{std::move(name), data, size};
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

}  // namespace stoker::io
