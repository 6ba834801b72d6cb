// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A worker's scratch memory for one sample: allocation moves a pointer, and all is freed at once.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "memory/system.h"

namespace stoker {

// A sample needs more than its worker may take while others work as well. It must be made alone.
struct BeyondShare {};
// A sample needs more than any sample may take, whatever else goes on.
struct TooLarge : SampleError {
  using SampleError::SampleError;
};

// Note [What a sample needs]
// The need of a sample is what its arena counts: its scratch, its files, and what codecs take for
// it. All of it comes from allocate() or is told to charge() before it is taken. The need depends
// on nothing but the sample and its graph. A sample that needs more than `ceiling` is bad.
//
// While the workers share the memory, each of them holds at most `share`, in chunks that grow
// generously and are kept for the next sample. A sample that finds no room there throws
// BeyondShare, even if it would find room with other chunks. It is then made alone: from an empty
// arena, up to the ceiling, and each chunk has just the size that is asked for.

// Grows by whole chunks and keeps them, so that it stops allocating after the first samples.
// Pointers are valid until reset().
class Arena {
 public:
  // Both limits are in bytes. `ceiling_is` says in messages what the ceiling is a part of.
  explicit Arena(size_t share = SIZE_MAX, size_t ceiling = SIZE_MAX / 4,
                 std::string ceiling_is = "")
      : share_(share), ceiling_(ceiling), ceiling_is_(std::move(ceiling_is)) {}

  // Uninitialised memory, never null, aligned to 64 bytes. SIMD code may read, but not write, 64
  // bytes behind it. Throws BeyondShare and TooLarge, and BudgetError where the system has no
  // memory.
  void* allocate(size_t bytes);
  template <class T>
  T* array(size_t n) {
    return static_cast<T*>(allocate(n <= SIZE_MAX / sizeof(T) ? n * sizeof(T) : SIZE_MAX));
  }
  // Counts bytes that the sample takes elsewhere, until reset(). Throws BeyondShare, TooLarge.
  void charge(size_t bytes);
  // Frees what was allocated, and forgets what was charged. The next sample of this size finds it
  // all in one chunk. AddressSanitizer reports an access to memory from before.
  void reset();
  // Does the same and gives the chunks back to the system.
  void trim();
  // Trims. From now on a sample is made alone or not: Note [What a sample needs].
  void set_alone(bool is_alone);
  size_t held() const { return held_; }  // size of all chunks, in bytes
  size_t used() const { return used_; }  // bytes allocated since reset(), each rounded to 64
  size_t need() const { return used_ + charged_; }

 private:
  struct Chunk {
    SystemMemory data;
    size_t size, at;
  };
  void check(size_t more) const;
  void grow(size_t bytes);
  size_t left() const;

  std::vector<Chunk> chunks_;
  size_t share_, ceiling_;
  std::string ceiling_is_;
  size_t held_ = 0, used_ = 0, charged_ = 0;
  bool is_alone_ = false;
  size_t merged_ = 0;  // size of the one chunk that replaces those that reset() freed
};

}  // namespace stoker
