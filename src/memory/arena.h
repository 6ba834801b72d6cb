// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A worker's scratch for one sample: allocation is a pointer bump, everything goes at once. One
// thread at a time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace stoker {

// Grows by whole chunks and keeps them, so the steady path never allocates. Pointers stay valid
// until reset().
class Arena {
 public:
  // `limit`: bytes of chunks that the arena may hold; going over it throws BudgetError that names
  // need and limit.
  explicit Arena(size_t limit = SIZE_MAX) : limit_(limit) {}

  // Uninitialised, never null, aligned to 64 bytes, with 64 readable bytes behind it (SIMD may
  // over-read, never over-write).
  void* allocate(size_t bytes);
  template <class T>
  T* array(size_t n) {
    return static_cast<T*>(allocate(n <= SIZE_MAX / sizeof(T) ? n * sizeof(T) : SIZE_MAX));
  }
  // Forgets everything since construction; the next sample of this size finds one chunk.
  // AddressSanitizer then reports any touch of what was handed out before.
  void reset();
  // Gives the chunks back.
  void trim();
  size_t held() const { return held_; }  // bytes of chunks
  size_t used() const { return used_; }  // bytes handed out since reset(), rounded to 64 each

 private:
  struct Free {
    void operator()(std::byte* p) const;
  };
  struct Chunk {
    std::unique_ptr<std::byte, Free> data;
    size_t size, at;
  };
  void grow(size_t bytes);

  std::vector<Chunk> chunks_;
  size_t limit_, held_ = 0, used_ = 0;
  size_t merged_ = 0;  // size of the chunk that replaces those that reset() dropped
};

}  // namespace stoker
