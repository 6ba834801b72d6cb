// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "io/bytes.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/error.h"
#include "memory/pool.h"

namespace stoker::io {

namespace {

// A system that overcommits memory would fail only when a larger buffer is touched.
constexpr size_t kLargestBuffer = size_t{1} << 38;

class FromSystem final : public Buffer {
 public:
  FromSystem(SystemMemory memory, size_t size)
      : Buffer(memory.get(), size), memory_(std::move(memory)) {}

 private:
  SystemMemory memory_;
};

// Null where there is no memory.
std::shared_ptr<Buffer> take(HostPool* pool, size_t bytes) try {
  if (pool) return pool->try_acquire(bytes, Use::kRead);
  SystemMemory memory = take_from_system(bytes + kReadPadding);
  return memory ? std::make_shared<FromSystem>(std::move(memory), bytes) : nullptr;
} catch (const BudgetError&) {
  return nullptr;
}

}  // namespace

void ByteBuffer::reserve(size_t bytes) {
  if (data_ && bytes <= capacity()) return;
  if (bytes > kLargestBuffer) throw std::bad_alloc();
  // An empty buffer frees its old memory first, so that it never holds both.
  if (size_ == 0) data_.reset();
  std::shared_ptr<Buffer> data = take(pool_, size_class(bytes));
  if (!data) throw std::bad_alloc();
  if (size_ > 0) std::memcpy(data->data(), data_->data(), size_);
  data_ = std::move(data);
}

void ByteBuffer::resize(size_t bytes) {
  size_ = bytes;
  std::memset(data_->data() + bytes, 0, kReadPadding);
}

}  // namespace stoker::io
