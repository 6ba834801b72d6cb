// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Loops that move rows between layouts.
#include "kernels/rows/rows.h"

#include <cstddef>
#include <cstring>

#include "kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows/rows.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stoker::rows {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Calls f(i) for each vector, from value i on. The last one ends where the row ends, so some values
// are processed twice. Returns how many were processed: 0 if the row is shorter than a vector.
template <class Fn>
HWY_INLINE int64_t EachVector(int64_t n, int64_t lanes, Fn&& f) {
  if (n < lanes) return 0;
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) f(i);
  if (i < n) f(n - lanes);
  return n;
}

template <class T>
int64_t SplitPixels(const T* pixels, int channels, uint8_t* planes, int64_t pitch, int64_t n) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const auto put = [&](int c, int64_t i, V v)
                       HWY_ATTR { hn::StoreU(v, d, reinterpret_cast<T*>(planes + c * pitch) + i); };
  return EachVector(n, static_cast<int64_t>(hn::Lanes(d)), [&](int64_t i) HWY_ATTR {
    V a, b, c, e;
    if (channels == 2) {
      hn::LoadInterleaved2(d, pixels + 2 * i, a, b);
    } else if (channels == 3) {
      hn::LoadInterleaved3(d, pixels + 3 * i, a, b, c);
      put(2, i, c);
    } else {
      hn::LoadInterleaved4(d, pixels + 4 * i, a, b, c, e);
      put(2, i, c);
      put(3, i, e);
    }
    put(0, i, a);
    put(1, i, b);
  });
}

#if HWY_TARGET <= HWY_AVX3
// In three vectors of pixels, place g holds value g / 3 of channel g % 3. A channel's places differ
// between the vectors, so one permutation of the channel serves all three.
template <int kLanes, class T>
struct PixelOrder {
  alignas(64) T order[3][kLanes] = {};
  uint32_t mask[3][3] = {};  // by vector and channel
  constexpr PixelOrder() {
    for (int g = 0; g < 3 * kLanes; ++g) {
      order[g % 3][g % kLanes] = static_cast<T>(g / 3);
      mask[g / kLanes][g % 3] |= uint32_t{1} << g % kLanes;
    }
  }
};
HWY_INLINE __m512i Permuted(const uint32_t* order, __m512i v) {
  return _mm512_permutexvar_epi32(_mm512_load_si512(order), v);
}
HWY_INLINE __m512i Permuted(const uint16_t* order, __m512i v) {
  return _mm512_permutexvar_epi16(_mm512_load_si512(order), v);
}
HWY_INLINE __m512i Mixed(uint32_t, uint32_t mask, __m512i a, __m512i b) {
  return _mm512_mask_blend_epi32(static_cast<__mmask16>(mask), a, b);
}
HWY_INLINE __m512i Mixed(uint16_t, uint32_t mask, __m512i a, __m512i b) {
  return _mm512_mask_blend_epi16(mask, a, b);
}
template <class T, class V>
HWY_INLINE void JoinThree(V a, V b, V c, T* pixels) {
  constexpr int kLanes = 64 / sizeof(T);
  static constexpr PixelOrder<kLanes, T> kPixelOrder;
  const __m512i x = Permuted(kPixelOrder.order[0], a.raw),
                y = Permuted(kPixelOrder.order[1], b.raw),
                z = Permuted(kPixelOrder.order[2], c.raw);
  for (int i = 0; i < 3; ++i)
    _mm512_storeu_si512(pixels + i * kLanes, Mixed(T{}, kPixelOrder.mask[i][2],
                                                   Mixed(T{}, kPixelOrder.mask[i][1], x, y), z));
}
template <class V>
HWY_INLINE void JoinThree(V a, V b, V c, uint8_t* pixels) {
  hn::StoreInterleaved3(a, b, c, hn::ScalableTag<uint8_t>(), pixels);
}
#else
template <class T, class V>
HWY_INLINE void JoinThree(V a, V b, V c, T* pixels) {
  hn::StoreInterleaved3(a, b, c, hn::ScalableTag<T>(), pixels);
}
#endif

template <class T>
int64_t JoinPixels(const uint8_t* planes, int64_t pitch, int channels, T* pixels, int64_t n) {
  const hn::ScalableTag<T> d;
  const auto get = [&](int c, int64_t i) HWY_ATTR {
    return hn::LoadU(d, reinterpret_cast<const T*>(planes + c * pitch) + i);
  };
  return EachVector(n, static_cast<int64_t>(hn::Lanes(d)), [&](int64_t i) HWY_ATTR {
    if (channels == 2) hn::StoreInterleaved2(get(0, i), get(1, i), d, pixels + 2 * i);
    else if (channels == 3) JoinThree(get(0, i), get(1, i), get(2, i), pixels + 3 * i);
    else hn::StoreInterleaved4(get(0, i), get(1, i), get(2, i), get(3, i), d, pixels + 4 * i);
  });
}

int64_t Split(const void* pixels, int size, int channels, void* planes, int64_t pitch, int64_t n) {
  auto* to = static_cast<uint8_t*>(planes);
  switch (size) {
    case 1: return SplitPixels(static_cast<const uint8_t*>(pixels), channels, to, pitch, n);
    case 2: return SplitPixels(static_cast<const uint16_t*>(pixels), channels, to, pitch, n);
    default: return SplitPixels(static_cast<const uint32_t*>(pixels), channels, to, pitch, n);
  }
}

int64_t Join(const void* planes, int64_t pitch, int size, int channels, void* pixels, int64_t n) {
  auto* from = static_cast<const uint8_t*>(planes);
  switch (size) {
    case 1: return JoinPixels(from, pitch, channels, static_cast<uint8_t*>(pixels), n);
    case 2: return JoinPixels(from, pitch, channels, static_cast<uint16_t*>(pixels), n);
    default: return JoinPixels(from, pitch, channels, static_cast<uint32_t*>(pixels), n);
  }
}

// From 2 KB on memcpy uses an instruction for strings, which takes a quarter longer on some CPUs,
// and longer for rows that are not copied in order.
void CopyLong(const uint8_t* from, int64_t from_stride, uint8_t* to, int64_t to_stride,
              int64_t size, int64_t n) {
  for (int64_t i = 0; i < n; ++i, from += from_stride, to += to_stride) {
#if HWY_TARGET <= HWY_AVX2
    const hn::ScalableTag<uint8_t> d;
    EachVector(size, static_cast<int64_t>(hn::Lanes(d)),
               [&](int64_t k) HWY_ATTR { hn::StoreU(hn::LoadU(d, from + k), d, to + k); });
#else
    std::memcpy(to, from, static_cast<size_t>(size));
#endif
  }
}

template <class T>
int64_t ReverseInto(const T* from, T* to, int64_t n) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  return EachVector(n, lanes, [&](int64_t i) HWY_ATTR {
    hn::StoreU(hn::Reverse(d, hn::LoadU(d, from + n - i - lanes)), d, to + i);
  });
}
int64_t ReverseBytes(const uint8_t* from, uint8_t* to, int64_t n) {
#if HWY_TARGET == HWY_SCALAR
  (void)from, (void)to, (void)n;
  return 0;
#else
  const hn::ScalableTag<uint8_t> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  HWY_ALIGN static constexpr uint8_t kBackwards[16] = {15, 14, 13, 12, 11, 10, 9, 8,
                                                       7,  6,  5,  4,  3,  2,  1, 0};
  const auto backwards = hn::LoadDup128(d, kBackwards);
  return EachVector(n, lanes, [&](int64_t i) HWY_ATTR {
    const auto v = hn::LoadU(d, from + n - i - lanes);
    hn::StoreU(hn::ReverseBlocks(d, hn::TableLookupBytes(v, backwards)), d, to + i);
  });
#endif
}
int64_t Reverse(const void* from, void* to, int size, int64_t n) {
  switch (size) {
    case 1: return ReverseBytes(static_cast<const uint8_t*>(from), static_cast<uint8_t*>(to), n);
    case 2: return ReverseInto(static_cast<const uint16_t*>(from), static_cast<uint16_t*>(to), n);
    case 4: return ReverseInto(static_cast<const uint32_t*>(from), static_cast<uint32_t*>(to), n);
    case 8: return ReverseInto(static_cast<const uint64_t*>(from), static_cast<uint64_t*>(to), n);
    default: return 0;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker::rows
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker::rows {
namespace {

HWY_EXPORT(Split);
HWY_EXPORT(Join);
HWY_EXPORT(CopyLong);
HWY_EXPORT(Reverse);

template <size_t kSize>
void copy_sized(const std::byte* from, int64_t from_stride, std::byte* to, int64_t to_stride,
                int64_t n) {
  for (int64_t i = 0; i < n; ++i) std::memcpy(to + i * to_stride, from + i * from_stride, kSize);
}

constexpr int64_t kLeastLong = 64;  // bytes: no vector is longer

// Vector loads of 16- and 32-bit values begin anywhere, but pointers to values must be aligned.
bool suits_vectors(const void* a, const void* b, int64_t pitch, int size, int channels) {
  const auto bits = reinterpret_cast<uintptr_t>(a) | reinterpret_cast<uintptr_t>(b) |
                    static_cast<uintptr_t>(pitch);
  return channels >= 2 && channels <= 4 && size <= 4 && bits % static_cast<uintptr_t>(size) == 0;
}

}  // namespace

void copy(const void* from, int64_t from_stride, void* to, int64_t to_stride, int64_t size,
          int64_t n) {
  auto* in = static_cast<const std::byte*>(from);
  auto* out = static_cast<std::byte*>(to);
  if (from_stride == size && to_stride == size) size *= n, n = 1;
  switch (size) {
    case 1: return copy_sized<1>(in, from_stride, out, to_stride, n);
    case 2: return copy_sized<2>(in, from_stride, out, to_stride, n);
    case 3: return copy_sized<3>(in, from_stride, out, to_stride, n);
    case 4: return copy_sized<4>(in, from_stride, out, to_stride, n);
    case 6: return copy_sized<6>(in, from_stride, out, to_stride, n);
    case 8: return copy_sized<8>(in, from_stride, out, to_stride, n);
    case 12: return copy_sized<12>(in, from_stride, out, to_stride, n);
    case 16: return copy_sized<16>(in, from_stride, out, to_stride, n);
    case 24: return copy_sized<24>(in, from_stride, out, to_stride, n);
    case 32: return copy_sized<32>(in, from_stride, out, to_stride, n);
    default: break;
  }
  if (size >= kLeastLong)
    return HWY_DYNAMIC_DISPATCH(CopyLong)(reinterpret_cast<const uint8_t*>(in), from_stride,
                                          reinterpret_cast<uint8_t*>(out), to_stride, size, n);
  for (int64_t i = 0; i < n; ++i)
    std::memcpy(out + i * to_stride, in + i * from_stride, static_cast<size_t>(size));
}

void split(const void* pixels, int size, int channels, void* planes, int64_t pitch, int64_t n) {
  auto* from = static_cast<const std::byte*>(pixels);
  auto* to = static_cast<std::byte*>(planes);
  const int64_t done = suits_vectors(pixels, planes, pitch, size, channels)
                           ? HWY_DYNAMIC_DISPATCH(Split)(pixels, size, channels, planes, pitch, n)
                           : 0;
  for (int c = 0; c < channels; ++c)
    copy(from + (done * channels + c) * size, channels * size, to + c * pitch + done * size, size,
         size, n - done);
}

void join(const void* planes, int64_t pitch, int size, int channels, void* pixels, int64_t n) {
  auto* from = static_cast<const std::byte*>(planes);
  auto* to = static_cast<std::byte*>(pixels);
  const int64_t done = suits_vectors(pixels, planes, pitch, size, channels)
                           ? HWY_DYNAMIC_DISPATCH(Join)(planes, pitch, size, channels, pixels, n)
                           : 0;
  for (int c = 0; c < channels; ++c)
    copy(from + c * pitch + done * size, size, to + (done * channels + c) * size, channels * size,
         size, n - done);
}

void reverse(const void* from, void* to, int size, int64_t n) {
  const bool is_aligned = (reinterpret_cast<uintptr_t>(from) | reinterpret_cast<uintptr_t>(to)) %
                              static_cast<uintptr_t>(size) ==
                          0;
  const int64_t done = is_aligned ? HWY_DYNAMIC_DISPATCH(Reverse)(from, to, size, n) : 0;
  auto* last = static_cast<const std::byte*>(from) + (n - done - 1) * size;
  copy(last, -size, static_cast<std::byte*>(to) + done * size, size, size, n - done);
}

}  // namespace stoker::rows
#endif
