// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/inflated_file.h"

#include <algorithm>
#include <new>

namespace stoker::stores {

namespace {

constexpr size_t kPiece = 1 << 20;  // of compressed data that is read at once

}  // namespace

InflatingFile::InflatingFile(std::shared_ptr<const io::Object> file, Compression compression)
    : file_(std::move(file)), stream_(inflater_of(compression).stream(compression, [this] {
        const int64_t size = std::min<int64_t>(file_->size() - read_, kPiece);
        if (size <= 0) return EncodedSpan();
        file_->read(piece_, read_, size);
        read_ += size;
        return EncodedSpan(reinterpret_cast<const uint8_t*>(piece_.data()), piece_.size());
      })) {}

size_t InflatingFile::read(std::span<uint8_t> into) try {
  const size_t got = stream_->read(into);
  at_ += static_cast<int64_t>(got);
  return got;
} catch (const SampleError& e) {
  throw SampleError("the compressed file '" + file_->path() + "' is damaged at byte " +
                        std::to_string(e.offset) + ": " + e.what(),
                    e.offset);
}

int64_t InflatingFile::skip(int64_t bytes) {
  int64_t done = 0;
  while (done < bytes) {
    const auto most = static_cast<size_t>(std::min<int64_t>(kPiece, bytes - done));
    skipped_.resize(std::max(skipped_.size(), most));
    const size_t got = read(std::span(skipped_).first(most));
    if (got == 0) break;
    done += static_cast<int64_t>(got);
  }
  return done;
}

InflatedFile::InflatedFile(const std::shared_ptr<const io::Object>& file, Compression compression,
                           size_t size)
    : path_(file->path()) {
  InflatingFile from(file, compression);
  try {
    bytes_.reserve(size);
  } catch (const std::bad_alloc&) {
    throw BudgetError("no memory for " + std::to_string(size) + " bytes of '" + path_ + "'");
  }
  size_t got = 0;
  try {
    while (got < size) {
      const size_t n = from.read({reinterpret_cast<uint8_t*>(bytes_.data()) + got, size - got});
      if (n == 0) break;
      got += n;
    }
  } catch (const SampleError& e) {
    damage_ = e;
  }
  bytes_.resize(got);
}

// One piece is compressed data, and the inflater itself takes about another.
size_t InflatedFile::memory(size_t size) { return size + 2 * kPiece; }

io::Part InflatedFile::part(int64_t offset, int64_t size) const {
  const auto all = static_cast<int64_t>(bytes_.size());
  if (offset >= 0 && size >= 0 && offset <= all && size <= all - offset)
    return {reinterpret_cast<const uint8_t*>(bytes_.data()) + offset, static_cast<size_t>(size)};
  if (damage_) throw SampleError(*damage_);
  throw SampleError("the compressed file '" + path_ + "' holds " + std::to_string(all) +
                        " bytes, and not " + std::to_string(size) + " from byte " +
                        std::to_string(offset) + " on: it changed or is damaged",
                    offset);
}

}  // namespace stoker::stores
