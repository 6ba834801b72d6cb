// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A worker's scratch memory for one sample: allocation moves a pointer, and everything is freed at
// once. One thread at a time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace stoker {

// Grows by whole chunks and keeps them, so that it stops allocating after the first samples.
// Pointers are valid until reset().
class Arena {
 public:
  // `limit` is the number of bytes that the chunks may hold. To exceed it throws BudgetError with
  // the need and the limit.
  explicit Arena(size_t limit = SIZE_MAX) : limit_(limit) {}

  // Returns uninitialised memory, never null, aligned to 64 bytes. 64 bytes behind it can be read,
  // so that SIMD code may read too far; it must not write there.
  void* allocate(size_t bytes);
  template <class T>
  T* array(size_t n) {
    return static_cast<T*>(allocate(n <= SIZE_MAX / sizeof(T) ? n * sizeof(T) : SIZE_MAX));
  }
  // Frees everything that was allocated. The next sample of this size finds it all in one chunk.
  // Under AddressSanitizer, an access to memory from before is reported.
  void reset();
  // Gives the chunks back to the system.
  void trim();
  size_t held() const { return held_; }  // size of all chunks, in bytes
  size_t used() const { return used_; }  // bytes allocated since reset(), each rounded to 64

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
  size_t merged_ = 0;  // size of the one chunk that replaces those that reset() freed
};

}  // namespace stoker
