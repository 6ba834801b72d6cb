// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/records/tfrecord.h"

#include "base/content.h"
#include "io/crc32c.h"

namespace stoker::stores {

namespace {

constexpr size_t kFraming = kTfrecordFraming;

}  // namespace

std::optional<uint64_t> tfrecord_length(ByteSpan head) {
  ForeignBytes b(head, ByteOrder::kLittle);
  const uint64_t length = b.u64();
  if (b.u32() != masked_crc32c(head.first(sizeof length))) return std::nullopt;
  return length;
}

uint32_t masked_crc32c(ByteSpan bytes) {
  const uint32_t crc = io::crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

std::vector<RecordPlace> find_tfrecords(const Ranges& file) {
  std::vector<RecordPlace> places;
  Scanner scanner(file);
  for (int64_t at = 0; at < file.size();) {
    const int64_t rest = file.size() - at;
    const ByteSpan head = scanner.at(at, kTfrecordHead);
    int64_t size = rest;
    if (head.size() == kTfrecordHead && rest >= kTfrecordFraming) {
      const std::optional<uint64_t> length = tfrecord_length(head);
      if (length && *length <= static_cast<uint64_t>(rest - kTfrecordFraming))
        size = kTfrecordFraming + static_cast<int64_t>(*length);
    }
    places.push_back({at, size});
    at += size;
  }
  return places;
}

ByteSpan tfrecord_payload(ByteSpan record, const std::string& name, int64_t offset, bool verify) {
  const std::string there = std::to_string(record.size());
  if (record.size() < kFraming)
    refuse(name, offset,
           "a record has 16 bytes around its payload, and there are " + there + " in all");
  const std::optional<uint64_t> length = tfrecord_length(record);
  if (!length)
    refuse(name, offset,
           "the length of the record is damaged" +
               (offset ? "" : ", unless this is no TFRecord: found " + describe_content(record)));
  if (*length > record.size() - kFraming)
    refuse(name, offset,
           "the record has " + std::to_string(*length) + " bytes and 16 around them, and " + there +
               " are there");
  if (*length < record.size() - kFraming)
    refuse(name, offset,
           "the index says that the record has " + there +
               " bytes, with 16 around its payload; the record says " + std::to_string(*length));
  ForeignBytes b = ForeignBytes(record, ByteOrder::kLittle).from(kTfrecordHead);
  const ByteSpan payload = b.bytes(*length);
  if (verify && masked_crc32c(payload) != b.u32())
    refuse(name, offset + kTfrecordHead, "the payload of the record does not fit its checksum");
  return payload;
}

std::vector<RecordPlace> parse_tfrecord_index(std::string_view text, const std::string& shown) {
  std::vector<RecordPlace> places;
  const char* const begin = text.data();
  for (int line = 1; !text.empty(); ++line) {
    const int64_t at = text.data() - begin;
    std::string_view rest = take_line(text);
    if (rest.find_first_not_of(" \t") == rest.npos) continue;
    RecordPlace p{};
    if (!take_number(rest, p.offset) || !take_number(rest, p.size) || p.offset < 0 || p.size < 0 ||
        rest.find_first_not_of(" \t") != rest.npos)
      throw SampleError("'" + shown + "', line " + std::to_string(line) +
                            ": expected the offset and the size of a record",
                        at);
    places.push_back(p);
  }
  return places;
}

std::string tfrecord_index(std::span<const RecordPlace> places) {
  std::string text;
  for (const RecordPlace& p : places)
    text += std::to_string(p.offset) + " " + std::to_string(p.size) + "\n";
  return text;
}

}  // namespace stoker::stores
