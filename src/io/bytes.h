// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The owners of a file's bytes between reading and decoding: growable buffers that are reused
// through a pool.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "memory/system.h"

namespace stoker::io {

// The number of zero bytes behind the data, so that decoders may read a little beyond its end.
inline constexpr size_t kReadPadding = 64;

// Uninitialised bytes that can grow, aligned to 64. Movable; one thread at a time.
class ByteBuffer {
 public:
  ByteBuffer() = default;
  ByteBuffer(ByteBuffer&& o) noexcept
      : data_(std::move(o.data_)),
        size_(std::exchange(o.size_, 0)),
        capacity_(std::exchange(o.capacity_, 0)) {}
  ByteBuffer& operator=(ByteBuffer&& o) noexcept {
    std::swap(data_, o.data_);
    std::swap(size_, o.size_);
    std::swap(capacity_, o.capacity_);
    return *this;
  }

  std::byte* data() { return data_.get(); }
  const std::byte* data() const { return data_.get(); }
  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  std::span<const std::byte> span() const { return {data(), size_}; }
  // Drops the bytes and keeps the room.
  void clear() { size_ = 0; }
  // Makes room for `bytes` and keeps the first size() ones. Throws std::bad_alloc.
  void reserve(size_t bytes);
  // Sets the size and writes the zeros behind it. Requires: reserve() was called, and bytes <=
  // capacity().
  void resize(size_t bytes);

 private:
  SystemMemory data_;
  size_t size_ = 0, capacity_ = 0;
};

// A pool of buffers for reuse. Thread-safe.
class BytePool {
 public:
  // Keeps at most `keep` bytes of unused buffers. The oldest ones are freed first, so that the
  // sizes follow what is read.
  explicit BytePool(size_t keep) : keep_(keep) {}
  // An empty buffer. It has room for `bytes` already where the pool holds one that is not much
  // larger than that. A much larger one would stay with small files for good, and read-ahead is
  // bounded by the bytes in buffers and not by their room.
  ByteBuffer get(size_t bytes);
  void put(ByteBuffer buffer);
  size_t unused() const;  // room of all unused buffers, in bytes

 private:
  ByteBuffer remove(std::vector<ByteBuffer>::iterator at) STOKER_REQUIRES(mutex_);

  const size_t keep_;
  mutable Mutex mutex_;  // no buffer is freed under it
  std::vector<ByteBuffer> free_ STOKER_GUARDED_BY(mutex_);
  size_t unused_ STOKER_GUARDED_BY(mutex_) = 0;
};

// The bytes read of one file. They give their buffer back to the pool when they are destroyed.
// Movable; one thread at a time. They may outlive whoever read them.
class Bytes {
 public:
  Bytes() = default;
  Bytes(ByteBuffer buffer, std::shared_ptr<BytePool> pool)
      : buffer_(std::move(buffer)), pool_(std::move(pool)) {}
  Bytes(Bytes&&) = default;
  Bytes& operator=(Bytes&& o) noexcept {
    std::swap(buffer_, o.buffer_);
    std::swap(pool_, o.pool_);
    return *this;
  }
  ~Bytes() {
    if (pool_) pool_->put(std::move(buffer_));
  }

  std::byte* data() { return buffer_.data(); }
  const std::byte* data() const { return buffer_.data(); }
  size_t size() const { return buffer_.size(); }
  std::span<const std::byte> span() const { return buffer_.span(); }
  ByteBuffer& buffer() { return buffer_; }

 private:
  ByteBuffer buffer_;
  std::shared_ptr<BytePool> pool_;
};

}  // namespace stoker::io
