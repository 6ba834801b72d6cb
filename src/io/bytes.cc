// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "io/bytes.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

namespace stoker::io {

namespace {

// A larger request must fail here: a system that overcommits memory would fail only when it is
// touched.
constexpr size_t kLargestBuffer = size_t{1} << 38;

// Rounds up to one of four sizes for each power of two. So a buffer fits files of about the same
// size, and at most a fifth of it is idle.
size_t rounded(size_t bytes) {
  if (bytes > kLargestBuffer) throw std::bad_alloc();
  const size_t step = std::bit_floor(std::max<size_t>(bytes, 4096)) / 4;
  return (bytes + step - 1) / step * step;
}

}  // namespace

void ByteBuffer::reserve(size_t bytes) {
  if (data_ && bytes <= capacity_) return;
  const size_t capacity = rounded(bytes);
  // An empty buffer frees its old memory first, so that it never holds both.
  if (size_ == 0) data_.reset(), capacity_ = 0;
  SystemMemory data = take_from_system(capacity + kReadPadding);
  if (!data) throw std::bad_alloc();
  if (size_ > 0) std::memcpy(data.get(), data_.get(), size_);
  data_ = std::move(data);
  capacity_ = capacity;
}

void ByteBuffer::resize(size_t bytes) {
  size_ = bytes;
  std::memset(data_.get() + bytes, 0, kReadPadding);
}

ByteBuffer BytePool::get(size_t bytes) {
  const size_t most = bytes + bytes / 2 + 4096;
  const MutexLock lock(mutex_);
  // The buffer that was given back last is the likeliest to be in the CPU's cache.
  const auto found = std::find_if(free_.rbegin(), free_.rend(), [&](const ByteBuffer& b) {
    return b.capacity() >= bytes && b.capacity() <= most;
  });
  return found == free_.rend() ? ByteBuffer() : remove(std::prev(found.base()));
}

void BytePool::put(ByteBuffer buffer) {
  std::vector<ByteBuffer> evicted;  // freed after the lock is released
  if (!buffer.data() || buffer.capacity() > keep_) return;
  buffer.clear();
  const MutexLock lock(mutex_);
  while (unused_ + buffer.capacity() > keep_) evicted.push_back(remove(free_.begin()));
  unused_ += buffer.capacity();
  free_.push_back(std::move(buffer));
}

ByteBuffer BytePool::remove(std::vector<ByteBuffer>::iterator at) {
  ByteBuffer buffer = std::move(*at);
  free_.erase(at);
  unused_ -= buffer.capacity();
  return buffer;
}

size_t BytePool::unused() const {
  const MutexLock lock(mutex_);
  return unused_;
}

}  // namespace stoker::io
