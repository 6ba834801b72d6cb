// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/webdataset.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace stoker::stores {

namespace {

constexpr int64_t kTarBlock = 512;  // members begin with one

std::string_view take_word(std::string_view& line) {
  const std::string_view word = line.substr(0, std::min(line.find(' '), line.size()));
  line.remove_prefix(std::min(word.size() + 1, line.size()));
  return word;
}

// Takes a number that a blank or the line's end follows.
bool take_last_number(std::string_view& line, int64_t& value) {
  if (!take_number(line, value) || value < 0 || (!line.empty() && line[0] != ' ')) return false;
  line.remove_prefix(std::min<size_t>(1, line.size()));
  return true;
}

// Takes the ending and the place of a member.
bool take_member(std::string_view& line, IndexedMember& member) {
  member.ending = take_word(line);
  return take_last_number(line, member.offset) && member.offset % kTarBlock == 0 &&
         take_last_number(line, member.size);
}

// Takes a name: it ends where another member follows, or with the line.
std::string_view take_name(std::string_view& line) {
  for (size_t at = line.find(' '); at != line.npos; at = line.find(' ', at + 1)) {
    std::string_view rest = line.substr(at + 1);
    IndexedMember next;
    if (!take_member(rest, next)) continue;
    const std::string_view name = line.substr(0, at);
    line.remove_prefix(at + 1);
    return name;
  }
  return std::exchange(line, std::string_view());
}

}  // namespace

std::vector<std::vector<IndexedMember>> parse_webdataset_index(std::string_view text,
                                                               const std::string& shown) {
  const char* const begin = text.data();
  int64_t number = 0, at = 0;
  const auto next_line = [&] {
    ++number;
    at = text.data() - begin;
    return take_line(text);
  };
  const auto fail = [&](const std::string& why) {
    throw SampleError("the index '" + shown + "', line " + std::to_string(number) + ": " + why, at);
  };
  std::string_view head = next_line();
  const std::string_view version = take_word(head);
  if (version != "v1.1" && version != "v1.2")
    fail("expected the version v1.1 or v1.2, got '" + shortened(version, 20) + "'");
  int64_t count = -1;
  if (!take_last_number(head, count)) fail("expected the number of samples");
  std::vector<std::vector<IndexedMember>> samples;
  while (!text.empty()) {
    std::string_view line = next_line();
    if (line.empty()) continue;
    auto& members = samples.emplace_back();
    while (!line.empty()) {
      IndexedMember member{};
      if (!take_member(line, member))
        fail("expected an ending, an offset and a size, got '" + shortened(member.ending, 20) +
             "'");
      if (version == "v1.2") member.name = take_name(line);
      members.push_back(member);
    }
  }
  if (count != static_cast<int64_t>(samples.size()))
    fail("it promises " + std::to_string(count) + " samples and has " +
         std::to_string(samples.size()));
  return samples;
}

}  // namespace stoker::stores
