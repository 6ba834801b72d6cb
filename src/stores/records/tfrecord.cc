// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/tfrecord.h"

#include "base/content.h"
#include "io/crc32c.h"

namespace stoker::stores {

namespace {

constexpr size_t kFraming = kTfrecordFraming;

}  // namespace

bool length_is_right(ByteSpan head) {
  return masked_crc32c(head.first(8)) == number_at<uint32_t>(head, 8);
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
    if (head.size() == kTfrecordHead && rest >= kTfrecordFraming && length_is_right(head)) {
      const auto length = number_at<uint64_t>(head, 0);
      if (length <= static_cast<uint64_t>(rest - kTfrecordFraming))
        size = kTfrecordFraming + static_cast<int64_t>(length);
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
  if (!length_is_right(record))
    refuse(name, offset,
           "the length of the record is damaged" +
               (offset ? "" : ", unless this is no TFRecord: found " + describe_content(record)));
  const auto length = number_at<uint64_t>(record, 0);
  if (length > record.size() - kFraming)
    refuse(name, offset,
           "the record has " + std::to_string(length) + " bytes and 16 around them, and " + there +
               " are there");
  if (length < record.size() - kFraming)
    refuse(name, offset,
           "the index says that the record has " + there +
               " bytes, with 16 around its payload; the record says " + std::to_string(length));
  const ByteSpan payload = record.subspan(kTfrecordHead, static_cast<size_t>(length));
  if (verify &&
      masked_crc32c(payload) != number_at<uint32_t>(record, kTfrecordHead + payload.size()))
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
