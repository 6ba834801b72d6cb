// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Files of RecordIO, as MXNet writes them: records of one part or of several, each behind a magic
// number and a length. See Note [Damaged files].
//
//   a part:       magic:4 kind and length:4 | bytes, padded to 4 || magic:4 ...     little-endian
//   a picture:    labels:4 label:4 id:8 another id:8 | labels, of 4 bytes each | encoded picture
//
// The highest 3 bits of the length say which part of its record it is.
#pragma once
#include "stores/ranges.h"

namespace stoker::stores {

// The places of all records, each with its framing and padding. Throws what `file` throws.
std::vector<RecordPlace> find_recordio(const Ranges& file);

// The payload of the record at the front of `bytes`, which begin at `offset` of a file: a part of
// `bytes`, or in `joined` where the record has several parts. Throws SampleError.
ByteSpan recordio_payload(ByteSpan bytes, const std::string& name, int64_t offset,
                          std::vector<uint8_t>& joined);

// The established index has a line "key<tab>offset" for each record. Places are sorted by offset,
// and each ends where the next one begins. `size`: of the file. Throws SampleError, with the line.
std::vector<RecordPlace> parse_recordio_index(std::string_view text, const std::string& shown,
                                              int64_t size);
// With the keys 0, 1, 2 and so on.
std::string recordio_index(std::span<const RecordPlace> places);

struct PictureRecord {
  uint64_t id = 0;
  ByteSpan labels;  // float32, not aligned
  ByteSpan picture;
};
// Throws SampleError, with an offset in the payload.
PictureRecord parse_picture_record(ByteSpan payload);

// Whether `size` bytes hold more than the record that begins with `head`, 8 bytes. False for a
// record of several parts, where this cannot be told.
bool holds_more(ByteSpan head, int64_t size);

}  // namespace stoker::stores
