// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/rows/gather.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows/gather.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stoker::rows {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET <= HWY_AVX3
// Highway has a target with VBMI, but that needs further instructions.
HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR ",avx512vbmi")
void RunLongShuffles(const Picks& picks, const uint8_t* from, uint8_t* to) {
  const Picks p = picks;  // a copy stays in registers, whatever is written
  const auto made = [&](int64_t i) __attribute__((target(HWY_TARGET_STR ",avx512vbmi"))) {
    return _mm512_permutexvar_epi8(_mm512_load_si512(p.order + i * 64),
                                   _mm512_loadu_si512(from + p.shuffle[i].from));
  };
  for (int64_t i = 0; i < p.free; ++i) _mm512_storeu_si512(to + p.shuffle[i].to, made(i));
  for (int64_t i = p.free; i < p.shuffles; ++i)
    _mm512_mask_storeu_epi8(to + p.shuffle[i].to, ~__mmask64{0} >> (64 - p.bytes_of(i)), made(i));
}
HWY_POP_ATTRIBUTES
int64_t ShuffleBytes(bool with_vbmi) { return with_vbmi ? 64 : 16; }
#else
void RunLongShuffles(const Picks&, const uint8_t*, uint8_t*) {}
int64_t ShuffleBytes(bool) { return HWY_TARGET == HWY_SCALAR ? 0 : 16; }
#endif

void RunShuffles(const Picks& picks, const uint8_t* from, uint8_t* to) {
#if HWY_TARGET == HWY_SCALAR
  (void)picks, (void)from, (void)to;
#else
  if (picks.bytes == 64) return RunLongShuffles(picks, from, to);
  const hn::Full128<uint8_t> d;
  const Picks p = picks;  // a copy stays in registers, whatever is written
  const auto made = [&](int64_t i) HWY_ATTR {
    return hn::TableLookupBytes(hn::LoadU(d, from + p.shuffle[i].from),
                                hn::Load(d, p.order + i * 16));
  };
  for (int64_t i = 0; i < p.free; ++i) hn::StoreU(made(i), d, to + p.shuffle[i].to);
  for (int64_t i = p.free; i < p.shuffles; ++i) {
    HWY_ALIGN uint8_t last[16];
    hn::Store(made(i), d, last);
    std::memcpy(to + p.shuffle[i].to, last, static_cast<size_t>(p.bytes_of(i)));
  }
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker::rows
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker::rows {
namespace {

HWY_EXPORT(ShuffleBytes);
HWY_EXPORT(RunShuffles);

#if HWY_ARCH_X86
std::atomic<bool> use_vbmi = __builtin_cpu_supports("avx512vbmi") != 0;
#else
std::atomic<bool> use_vbmi = false;
#endif

template <size_t kSize>
void gather_sized(const int64_t* offset, const std::byte* from, std::byte* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i, to += kSize) std::memcpy(to, from + offset[i], kSize);
}

void gather_units(const Picks& p, const std::byte* from, std::byte* to) {
  const int64_t *offset = p.from, n = p.count;
  switch (p.size) {
    case 1: return gather_sized<1>(offset, from, to, n);
    case 2: return gather_sized<2>(offset, from, to, n);
    case 3: return gather_sized<3>(offset, from, to, n);
    case 4: return gather_sized<4>(offset, from, to, n);
    case 6: return gather_sized<6>(offset, from, to, n);
    case 8: return gather_sized<8>(offset, from, to, n);
    case 12: return gather_sized<12>(offset, from, to, n);
    case 16: return gather_sized<16>(offset, from, to, n);
    case 24: return gather_sized<24>(offset, from, to, n);
    case 32: return gather_sized<32>(offset, from, to, n);
    default:
      for (int64_t i = 0; i < n; ++i, to += p.size)
        std::memcpy(to, from + offset[i], static_cast<size_t>(p.size));
  }
}

struct Reach {
  int64_t units, begin;
};
Reach reach_of(const Picks& p, int64_t first, int64_t bytes) {
  int64_t units = 1, lo = p.from[first], hi = lo;
  for (; first + units < p.count && (units + 1) * p.size <= bytes; ++units) {
    const int64_t at = p.from[first + units];
    if (std::max(hi, at) + p.size - std::min(lo, at) > bytes) break;
    lo = std::min(lo, at), hi = std::max(hi, at);
  }
  return {units, lo};
}

}  // namespace

bool set_vbmi_for_test(bool use) { return use_vbmi.exchange(use); }

int64_t shuffle_bytes() {
  return HWY_DYNAMIC_DISPATCH(ShuffleBytes)(use_vbmi.load(std::memory_order_relaxed));
}

Picks picks_of(int size, const int64_t* from, int64_t count, Arena& arena) {
  Picks p{size, count, from};
  const int64_t bytes = shuffle_bytes();
  const auto [least, most] = std::minmax_element(from, from + count);
  const int64_t last = *most + size - bytes, room = count / 2;
  if (2 * size > bytes || last < *least || room == 0) return p;
  auto* shuffle = arena.array<Shuffle>(static_cast<size_t>(room));
  auto* orders = arena.array<uint8_t>(static_cast<size_t>(room * bytes));
  int64_t shuffles = 0, free = 0;
  for (int64_t done = 0; done < count; ++shuffles) {
    if (shuffles == room) return p;
    const Reach r = reach_of(p, done, bytes);
    const Shuffle s{std::min(r.begin, last), done * size};
    uint8_t* order = orders + shuffles * bytes;
    std::fill_n(order, bytes, uint8_t{0});
    for (int64_t i = done; i < done + r.units; ++i)
      for (int k = 0; k < size; ++k) *order++ = static_cast<uint8_t>(from[i] - s.from + k);
    shuffle[shuffles] = s;
    if (s.to + bytes <= count * size) free = shuffles + 1;
    done += r.units;
  }
  p.shuffle = shuffle, p.order = orders;
  p.shuffles = shuffles, p.free = free, p.bytes = bytes;
  return p;
}

void gather(const Picks& picks, const std::byte* from, std::byte* to) {
  if (!picks.shuffle) return gather_units(picks, from, to);
  HWY_DYNAMIC_DISPATCH(RunShuffles)
  (picks, reinterpret_cast<const uint8_t*>(from), reinterpret_cast<uint8_t*>(to));
}

void repeat(const std::byte* value, int64_t size, std::byte* to, int64_t n) {
  if (size == 1) {
    std::memset(to, std::to_integer<int>(*value), static_cast<size_t>(n));
    return;
  }
  const int64_t bytes = n * size, most = std::max<int64_t>(1, 4096 / size) * size;
  for (int64_t done = 0, piece; done < bytes; done += piece) {
    piece = std::min({done ? done : size, bytes - done, most});
    std::memcpy(to + done, done ? to : value, static_cast<size_t>(piece));
  }
}

}  // namespace stoker::rows
#endif
