// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// For tests: decoding with indexes, and indexes that are wrong.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "codec/orientation.h"
#include "codec/plain_jpeg/decoder.h"
#include "codec/plain_jpeg/entropy_indexes.h"
#include "codec/plain_jpeg/outcome_testing.h"
#include "kernels/jpeg/lanes.h"

namespace stoker::test {

// Whether this CPU has lanes.
inline bool has_lanes() {
  jpeg::Mcu mcu{.count = 1};
  int16_t row;
  mcu.blocks[0].row = &row;
  mcu.blocks[0].across = 1;
  return jpeg::can_use_lanes(mcu);
}

inline std::optional<EntropyIndex> built(const File& f, int every = 0) {
  Arena scratch;
  return build_entropy_index(f, every, scratch);
}

// As Outcome, with what the indexes know.
inline Outcome with(EntropyIndexes& indexes, const File& f, const Window& made,
                    const Window& judged, const DecodeOptions& o = {}) {
  return outcome(f, made, judged, o, &indexes);
}
inline Outcome with(EntropyIndexes& indexes, const File& f, const Window& w) {
  return with(indexes, f, w, w);
}

inline bool is_ours(EntropyIndexes& indexes, const File& f, const DecodeOptions& o,
                    const Window& w) {
  return is_ours(f, o, w, &indexes);
}

// A byte of a place is changed and the checksum made right again, as by a fault of ours in memory.
// Requires: an index of three components.
inline EntropyIndex with_changed_place(const EntropyIndex& index, int64_t place, uint8_t change,
                                       size_t byte = 0) {
  std::vector<uint8_t> bytes = index.saved();
  const size_t places = bytes.size() - 8 - 10 * static_cast<size_t>(index.count());
  bytes[places + 10 * static_cast<size_t>(place) + byte] ^= change;
  const uint64_t hash = hash_of_file(std::span(bytes).first(bytes.size() - 8));
  for (size_t i = 0; i < 8; ++i) bytes[bytes.size() - 8 + i] = static_cast<uint8_t>(hash >> 8 * i);
  return EntropyIndex::of_saved(bytes);
}

}  // namespace stoker::test
