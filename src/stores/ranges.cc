// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/ranges.h"

#include <algorithm>
#include <charconv>

namespace stoker::stores {

void refuse(const std::string& name, int64_t offset, const std::string& what) {
  throw SampleError("'" + name + "' at byte " + std::to_string(offset) + ": " + what, offset);
}

void MemoryRanges::read(int64_t offset, std::span<uint8_t> into) const {
  const auto all = static_cast<int64_t>(bytes_.size());
  if (offset < 0 || offset > all || into.size() > static_cast<size_t>(all - offset))
    refuse(name_, std::clamp<int64_t>(offset, 0, all), "it ends before what is wanted");
  std::copy_n(bytes_.begin() + offset, into.size(), into.begin());
}

ByteSpan Scanner::at(int64_t offset, size_t length) {
  constexpr size_t kLeast = 512, kMost = size_t{1} << 20;
  const int64_t end = begin_ + static_cast<int64_t>(window_.size());
  const auto rest = static_cast<size_t>(std::max<int64_t>(from_.size() - offset, 0));
  length = std::min(length, rest);
  if (offset < begin_ || offset + static_cast<int64_t>(length) > end) {
    // Records that are larger than the window are skipped, so less is worth reading at once.
    const bool jumps = offset > end + static_cast<int64_t>(step_);
    step_ = std::clamp(jumps ? step_ / 2 : step_ * 2, kLeast, kMost);
    window_.resize(std::min(std::max(step_, length), rest));
    begin_ = offset;
    from_.read(offset, window_);
  }
  return ByteSpan(window_).subspan(static_cast<size_t>(offset - begin_), length);
}

size_t Scanner::copy(int64_t offset, std::span<uint8_t> into) {
  if (offset >= from_.size()) return 0;
  const ByteSpan there = at(offset, into.size());
  std::copy(there.begin(), there.end(), into.begin());
  return there.size();
}

std::string_view take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool take_number(std::string_view& text, int64_t& value) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

}  // namespace stoker::stores
