// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Files of TFRecord: records with their length and two checksums.
//
//   length:8 checksum of these:4 | payload | checksum of it:4 || length:8 ...      little-endian
//
// Note [Damaged files]
// Looking for records stops where the next one cannot be found. All bytes from there on are then
// one more place, and taking that record throws the reason. So a damaged file has one bad sample,
// which the policy for bad samples decides about.
#pragma once
#include <optional>

#include "stores/ranges.h"

namespace stoker::stores {

inline constexpr int64_t kTfrecordHead = 12, kTfrecordFraming = 16;

// None where the length does not fit its checksum. Requires: kTfrecordHead bytes.
std::optional<uint64_t> tfrecord_length(ByteSpan head);

// Each place has its record's framing. Throws what `file` throws.
std::vector<RecordPlace> find_tfrecords(const Ranges& file);

// The payload of a record with its framing, which begins at `offset` of a file. Its length's
// checksum is always checked, its payload's if `verify`. Throws SampleError.
ByteSpan tfrecord_payload(ByteSpan record, const std::string& name, int64_t offset, bool verify);

// A line is "offset size", for each record. `shown`: its name in errors. Throws SampleError.
std::vector<RecordPlace> parse_tfrecord_index(std::string_view text, const std::string& shown);
std::string tfrecord_index(std::span<const RecordPlace> places);

// The checksum as TFRecord stores it.
uint32_t masked_crc32c(ByteSpan bytes);

}  // namespace stoker::stores
