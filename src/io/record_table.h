// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the records of a file lie, 16 bytes for each: Note [Kept beside files] (io/kept_bytes.h).
#pragma once
#include "io/crc32c.h"
#include "io/kept_bytes.h"

namespace stoker::io {

struct RecordPlace {
  int64_t offset, size;
  bool operator==(const RecordPlace&) const = default;
};
static_assert(sizeof(RecordPlace) == 16);

// Immutable.
class RecordTable {
 public:
  explicit RecordTable(std::vector<RecordPlace> places)
      : RecordTable(in_memory(std::move(places))) {}

  // `find` looks for the records where no table that fits is kept. The other arguments and errors
  // are those of kept_bytes().
  static std::shared_ptr<const RecordTable> of(
      const std::string& path, const std::string& kind,
      const std::function<std::vector<RecordPlace>()>& find,
      const std::vector<std::string>& names = {}) {
    const auto make = [&] { return in_memory(find()); };
    return std::shared_ptr<const RecordTable>(new RecordTable(kept_bytes(path, kind, make, names)));
  }

  std::span<const RecordPlace> places() const {
    return {reinterpret_cast<const RecordPlace*>(kept_.bytes.data()),
            kept_.bytes.size() / sizeof(RecordPlace)};
  }
  uint32_t sum() const { return kept_.sum; }  // of all places: CRC-32C
  bool is_kept() const { return !kept_.kept_in.empty(); }

 private:
  explicit RecordTable(KeptBytes kept) : kept_(std::move(kept)) {}
  static KeptBytes in_memory(std::vector<RecordPlace> places) {
    const auto owner = std::make_shared<const std::vector<RecordPlace>>(std::move(places));
    const std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(owner->data()),
                                         owner->size() * sizeof(RecordPlace));
    return {owner, bytes, crc32c(bytes)};
  }

  const KeptBytes kept_;
};

}  // namespace stoker::io
