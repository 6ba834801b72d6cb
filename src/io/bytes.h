// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The owner of bytes between reading and decoding: a buffer that can grow.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "memory/buffer.h"

namespace stoker {
class HostPool;
}

namespace stoker::io {

// The number of zero bytes behind the data, so that decoders may read a little beyond its end.
inline constexpr size_t kReadPadding = 64;

// Uninitialised bytes that can grow, aligned to 64. Movable.
class ByteBuffer {
 public:
  ByteBuffer() = default;
  // Takes memory of the pool, as Use::kRead. Requires: the pool outlives the last reserve().
  explicit ByteBuffer(HostPool& pool) : pool_(&pool) {}
  ByteBuffer(ByteBuffer&& o) noexcept
      : pool_(o.pool_), data_(std::move(o.data_)), size_(std::exchange(o.size_, 0)) {}
  ByteBuffer& operator=(ByteBuffer&& o) noexcept {
    std::swap(pool_, o.pool_);
    std::swap(data_, o.data_);
    std::swap(size_, o.size_);
    return *this;
  }

  std::byte* data() { return data_ ? data_->data() : nullptr; }
  const std::byte* data() const { return data_ ? data_->data() : nullptr; }
  size_t size() const { return size_; }
  size_t capacity() const { return data_ ? data_->size() : 0; }
  std::span<const std::byte> span() const { return {data(), size_}; }
  // Drops the bytes and keeps the room.
  void clear() { size_ = 0; }
  // Makes room for `bytes` and keeps the first size() ones. Throws std::bad_alloc.
  void reserve(size_t bytes);
  // Also writes the zeros behind the data. Requires: reserve() was called; bytes <= capacity().
  void resize(size_t bytes);
  // The memory, for those who keep it longer than this. Nobody may append from then on.
  const std::shared_ptr<Buffer>& owner() const { return data_; }

 private:
  HostPool* pool_ = nullptr;
  std::shared_ptr<Buffer> data_;
  size_t size_ = 0;
};

}  // namespace stoker::io
