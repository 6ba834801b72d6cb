// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Loads and stores that are as wide as the address allows. All that are wider than a byte go
// through load_aligned and store_aligned, which sanitizers check.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/types.h"

namespace stoker {

// The most that a thread loads or stores at once.
struct __attribute__((may_alias, aligned(16))) Vector {
  uint64_t low, high;
};
inline constexpr int kVectorBytes = sizeof(Vector);

namespace detail {
template <size_t kBytes>
struct Word;
template <>
struct Word<1> {
  typedef uint8_t __attribute__((may_alias)) Type;
};
template <>
struct Word<2> {
  typedef uint16_t __attribute__((may_alias)) Type;
};
template <>
struct Word<4> {
  typedef uint32_t __attribute__((may_alias)) Type;
};
template <>
struct Word<8> {
  typedef uint64_t __attribute__((may_alias)) Type;
};
template <>
struct Word<16> {
  using Type = Vector;
};
}  // namespace detail

// The address modulo a power of two.
STOKER_HD inline int misalignment(const void* p, int alignment) {
  return static_cast<int>(reinterpret_cast<uintptr_t>(p) & static_cast<uintptr_t>(alignment - 1));
}

// Tells nvcc that p points to global memory, which allows shorter accesses.
template <class T>
STOKER_HD inline T* in_global(T* p) {
#ifdef __CUDA_ARCH__
  __builtin_assume(__isGlobal(p));
#endif
  return p;
}

template <class T>
STOKER_HD inline T* in_shared(T* p) {
#ifdef __CUDA_ARCH__
  __builtin_assume(__isShared(p));
#endif
  return p;
}

// Requires: p is a multiple of sizeof(T), which is at most 16 bytes.
template <class T>
STOKER_HD inline T load_aligned(const std::byte* p) {
  using Word = typename detail::Word<sizeof(T)>::Type;
  const Word w = *reinterpret_cast<const Word*>(p);
  return __builtin_bit_cast(T, w);
}
template <class T>
STOKER_HD inline void store_aligned(std::byte* p, const T& v) {
  using Word = typename detail::Word<sizeof(T)>::Type;
  *reinterpret_cast<Word*>(p) = __builtin_bit_cast(Word, v);
}

namespace detail {
STOKER_HD inline uint64_t load_bytes(const std::byte* p, int n) {
  uint64_t v = 0;
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  for (int k = n; k-- > 0;) v = v << 8 | load_aligned<uint8_t>(p + k);
  return v;
}
STOKER_HD inline void store_bytes(std::byte* p, uint64_t v, int n) {
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  for (int k = 0; k < n; ++k, v >>= 8) store_aligned(p + k, static_cast<uint8_t>(v));
}
}  // namespace detail

// One element of 1, 2, 4 or 8 bytes at any address.
template <class T>
STOKER_HD inline T load_as(const std::byte* p) {
  if (misalignment(p, sizeof(T)) == 0) return load_aligned<T>(p);
  using Word = typename detail::Word<sizeof(T)>::Type;
  return __builtin_bit_cast(T, static_cast<Word>(detail::load_bytes(p, sizeof(T))));
}
template <class T>
STOKER_HD inline void store_as(std::byte* p, T v) {
  if (misalignment(p, sizeof(T)) == 0) return store_aligned(p, v);
  using Word = typename detail::Word<sizeof(T)>::Type;
  detail::store_bytes(p, __builtin_bit_cast(Word, v), sizeof(T));
}

// Requires: `size` is 1, 2, 4 or 8.
STOKER_HD inline void copy_element(std::byte* to, const std::byte* from, int size) {
  switch (size) {
    case 1: return store_as(to, load_as<uint8_t>(from));
    case 2: return store_as(to, load_as<uint16_t>(from));
    case 4: return store_as(to, load_as<uint32_t>(from));
    default: return store_as(to, load_as<uint64_t>(from));
  }
}

// Stores n neighbours in registers. `to` is aligned to the bytes of all, or to 16 if they are more.
template <class T, int n>
STOKER_HD inline void store_row(std::byte* to, const T (&v)[n]) {
  constexpr int kAtOnce = n * int{sizeof(T)} < kVectorBytes ? n : kVectorBytes / int{sizeof(T)};
  struct AlignedVector {
    T v[kAtOnce];
  };
  for (int i = 0; i < n; i += kAtOnce) {
    AlignedVector some;
    for (int k = 0; k < kAtOnce; ++k) some.v[k] = v[i + k];
    store_aligned(to + i * int{sizeof(T)}, some);
  }
}

// The 8 bytes from p on, the first lowest. Requires: the aligned words that hold them are readable.
STOKER_HD inline uint64_t load_eight(const std::byte* p) {
  const int skip = misalignment(p, 8);
  const uint64_t low = load_aligned<uint64_t>(p - skip) >> 8 * skip;
  return skip ? low | load_aligned<uint64_t>(p - skip + 8) << 8 * (8 - skip) : low;
}

// The same without branches. Requires: the aligned word that holds p and the next are readable.
STOKER_HD inline uint64_t load_eight_of_two(const std::byte* p) {
  const int skip = misalignment(p, 8);
  const auto low = load_aligned<uint64_t>(p - skip), high = load_aligned<uint64_t>(p - skip + 8);
  const uint64_t middle = low >> 32 | high << 32;
  const uint64_t first = skip & 4 ? middle : low, second = skip & 4 ? high : middle;
  const int shift = 8 * (skip & 3);
  return static_cast<uint32_t>(first >> shift) | second >> shift << 32;
}

// The same where only [begin, end) can be read. Bytes outside of it are 0.
STOKER_HD inline uint64_t load_eight(const std::byte* p, const std::byte* begin,
                                     const std::byte* end) {
  const int skip = misalignment(p, 8);
  if (p - begin >= skip && end - p >= (skip ? 16 : 8) - skip) return load_eight(p);
  const auto before = p < begin ? static_cast<int>(begin - p) : 0;
  const auto behind = end - p < 8 ? static_cast<int>(end - p) : 8;
  return before < behind ? detail::load_bytes(p + before, behind - before) << 8 * before : 0;
}

// How many chunks store_chunk() can have at most.
STOKER_HD constexpr int chunks_of(int bytes) { return bytes / kVectorBytes + 2; }

// Copies chunk k of a run of `bytes` bytes with elements of `size` bytes. A chunk is one vector
// store, or what lies before the first or behind the last address that allows one. `from` is
// aligned to 8, and memory can be read up to the next multiple of 8 behind the run.
STOKER_HD inline void store_chunk(std::byte* to, const std::byte* from, int bytes, int size,
                                  int k) {
  const int skip = misalignment(to, kVectorBytes);
  const int begin = k * kVectorBytes - skip, end = begin + kVectorBytes;
  if (begin >= 0 && end <= bytes) {
    const std::byte* at = from + begin;
    const Vector v = misalignment(at, kVectorBytes) == 0
                         ? load_aligned<Vector>(at)
                         : Vector{load_eight(at), load_eight(at + 8)};
    return store_aligned(to + begin, v);
  }
  const int unit = skip % size ? 1 : size;
  for (int b = begin < 0 ? 0 : begin; b < end && b < bytes; b += unit)
    copy_element(to + b, from + b, unit);
}

}  // namespace stoker
