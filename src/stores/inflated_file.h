// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Files of many samples, compressed as a whole. All of it throws SampleError, which names the file.
#pragma once
#include <memory>
#include <optional>

#include "base/error.h"
#include "codec/inflate/inflate.h"
#include "io/store.h"

namespace stoker::stores {

// What such a file holds, read piece by piece from its beginning on.
class InflatingFile {
 public:
  InflatingFile(std::shared_ptr<const io::Object> file, Compression compression);
  // Reads what comes next: fewer bytes than fit only at the end or before damage. Behind the last
  // good byte the next call throws.
  size_t read(std::span<uint8_t> into);
  // Passes over so many bytes. Returns how many there were.
  int64_t skip(int64_t bytes);
  // Bytes that were read or passed over.
  int64_t at() const { return at_; }

 private:
  const std::shared_ptr<const io::Object> file_;
  io::ByteBuffer piece_;
  std::vector<uint8_t> skipped_;
  int64_t read_ = 0, at_ = 0;
  std::unique_ptr<InflatingStream> stream_;
};

// All that such a file holds, in memory, or what comes before its damage.
class InflatedFile final : public io::Block {
 public:
  // `size`: of what it held when the store was opened. Throws BudgetError if there is no memory.
  InflatedFile(const std::shared_ptr<const io::Object>& file, Compression compression, size_t size);
  static size_t memory(size_t size);
  io::Part part(int64_t offset, int64_t size) const;

 private:
  std::string path_;
  io::ByteBuffer bytes_;
  std::optional<SampleError> damage_;  // why there are no more of them
};

}  // namespace stoker::stores
