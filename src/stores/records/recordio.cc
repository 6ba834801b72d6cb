// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/records/recordio.h"

#include <algorithm>

namespace stoker::stores {

namespace {

constexpr uint32_t kMagic = 0xced7230a;
constexpr size_t kPartHead = 8;

// What the upper three bits of a length say of a part.
enum Flag : uint32_t { kWhole = 0, kFirst = 1, kInner = 2, kLast = 3 };

struct Part {
  uint32_t flag;
  size_t length;
  size_t padded() const { return kPartHead + (length + 3) / 4 * 4; }
  bool is_last() const { return flag == kWhole || flag == kLast; }
};

// Finds the part at the front of the bytes. Returns null, or why there is none.
const char* part_at(ByteSpan bytes, bool is_first, Part& part) {
  ForeignBytes b(bytes, ByteOrder::kLittle);
  if (!b.has(kPartHead)) return "the record ends inside the length of a part";
  if (b.u32() != kMagic) return "a record begins with the magic number, and other bytes are there";
  const uint32_t word = b.u32();
  part = {word >> 29, word & 0x1fffffff};
  const bool begins = part.flag == kWhole || part.flag == kFirst;
  if (part.flag > kLast || begins != is_first) return "this part does not belong here";
  return nullptr;
}

}  // namespace

std::vector<RecordPlace> find_recordio(const Ranges& file) {
  std::vector<RecordPlace> places;
  Scanner scanner(file);
  int64_t begin = 0;
  for (int64_t at = 0; at < file.size();) {
    Part part{};
    const bool is_first = at == begin;
    if (part_at(scanner.at(at, kPartHead), is_first, part) ||
        static_cast<int64_t>(kPartHead + part.length) > file.size() - at) {
      places.push_back({begin, file.size() - begin});
      return places;
    }
    // The padding of the last part may be missing.
    at = std::min(at + static_cast<int64_t>(part.padded()), file.size());
    if (part.is_last()) {
      places.push_back({begin, at - begin});
      begin = at;
    }
  }
  if (begin < file.size()) places.push_back({begin, file.size() - begin});
  return places;
}

ByteSpan recordio_payload(ByteSpan bytes, const std::string& name, int64_t offset,
                          std::vector<uint8_t>& joined) {
  joined.clear();
  for (size_t at = 0;;) {
    Part part{};
    const ByteSpan rest = bytes.subspan(at);
    const int64_t here = offset + static_cast<int64_t>(at);
    if (const char* why = part_at(rest, at == 0, part)) refuse(name, here, why);
    if (part.length > rest.size() - kPartHead)
      refuse(name, here,
             "a part of the record has " + std::to_string(part.length) + " bytes, and " +
                 std::to_string(rest.size() - kPartHead) + " are there");
    const ByteSpan inside = rest.subspan(kPartHead, part.length);
    if (part.flag == kWhole) return inside;
    // Where the magic number stood in the payload, the parts were cut.
    if (part.flag != kFirst) {
      const ByteSpan magic = rest.first(sizeof kMagic);
      joined.insert(joined.end(), magic.begin(), magic.end());
    }
    joined.insert(joined.end(), inside.begin(), inside.end());
    if (part.flag == kLast) return joined;
    at = std::min(at + part.padded(), bytes.size());
  }
}

bool holds_more(ByteSpan head, int64_t size) {
  Part part{};
  return !part_at(head, true, part) && part.flag == kWhole &&
         size > static_cast<int64_t>(part.padded());
}

std::vector<RecordPlace> parse_recordio_index(std::string_view text, const std::string& shown,
                                              int64_t size) {
  std::vector<RecordPlace> places;
  const char* const begin = text.data();
  for (int line = 1; !text.empty(); ++line) {
    const int64_t at = text.data() - begin;
    std::string_view rest = take_line(text);
    if (rest.find_first_not_of(" \t") == rest.npos) continue;
    int64_t key = 0, offset = 0;
    if (!take_number(rest, key) || !take_number(rest, offset) || offset < 0 ||
        rest.find_first_not_of(" \t") != rest.npos)
      throw SampleError("'" + shown + "', line " + std::to_string(line) +
                            ": expected the key and the offset of a record",
                        at);
    places.push_back({offset, 0});
  }
  std::sort(places.begin(), places.end(),
            [](const RecordPlace& a, const RecordPlace& b) { return a.offset < b.offset; });
  for (size_t i = 0; i < places.size(); ++i) {
    const int64_t end = i + 1 < places.size() ? places[i + 1].offset : size;
    places[i].size = std::max<int64_t>(std::min(end, size) - places[i].offset, 0);
  }
  return places;
}

std::string recordio_index(std::span<const RecordPlace> places) {
  std::string text;
  for (size_t i = 0; i < places.size(); ++i)
    text += std::to_string(i) + "\t" + std::to_string(places[i].offset) + "\n";
  return text;
}

PictureRecord parse_picture_record(ByteSpan payload) {
  // flag, label, id and a second id
  constexpr size_t kHeader = 24;
  if (payload.size() < kHeader)
    throw SampleError("a picture's record has a header of 24 bytes, and " +
                          std::to_string(payload.size()) + " are there",
                      0);
  ForeignBytes b(payload, ByteOrder::kLittle);
  const size_t labels = b.u32();
  b.skip(4);  // the only label
  PictureRecord r;
  r.id = b.u64();
  // Without labels of its own, the header's only one counts.
  if (labels == 0) {
    r.labels = payload.subspan(4, 4);
    r.picture = payload.subspan(kHeader);
    return r;
  }
  if (labels > (payload.size() - kHeader) / 4)
    throw SampleError("the record has " + std::to_string(labels) + " labels, and " +
                          std::to_string(payload.size() - kHeader) + " bytes are there",
                      kHeader);
  r.labels = payload.subspan(kHeader, labels * 4);
  r.picture = payload.subspan(kHeader + labels * 4);
  return r;
}

}  // namespace stoker::stores
