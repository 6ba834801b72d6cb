// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Philox (base/chance/philox.h), one block in each lane.
#include "kernels/elements/draws.h"

#include <algorithm>
#include <cstring>

#include "kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elements/draws.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stoker {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

void DrawBlocks(const Chance& chance, uint64_t first, uint64_t step, uint32_t* to, int64_t blocks) {
  for (int64_t b = 0; b < blocks; ++b) {
    const Words w = chance.block(first + step * static_cast<uint64_t>(b));
    std::memcpy(to + 4 * b, w.w, sizeof w.w);
  }
}

#else

using D = hn::ScalableTag<uint32_t>;
using V = hn::Vec<D>;

struct Product {
  V high, low;
};
HWY_INLINE Product Times(V v, V constant) {
  const hn::RepartitionToWide<D> wide;
  const auto even = hn::MulEven(v, constant);
  const auto odd =
      hn::MulEven(hn::BitCast(D(), hn::ShiftRight<32>(hn::BitCast(wide, v))), constant);
  return {hn::OddEven(hn::BitCast(D(), odd), hn::BitCast(D(), hn::ShiftRight<32>(even))),
          hn::OddEven(hn::BitCast(D(), hn::ShiftLeft<32>(odd)), hn::BitCast(D(), even))};
}

struct Blocks {
  V x0, x1, x2, x3;

  HWY_INLINE void Round(uint32_t k0, uint32_t k1) {
    const Product a = Times(x0, hn::Set(D(), kPhiloxFactors[0]));
    const Product b = Times(x2, hn::Set(D(), kPhiloxFactors[1]));
    x0 = hn::Xor(hn::Xor(b.high, x1), hn::Set(D(), k0));
    x1 = b.low;
    x2 = hn::Xor(hn::Xor(a.high, x3), hn::Set(D(), k1));
    x3 = a.low;
  }
};

// As Chance::block does for `first`, first + step, and so on. Writes whole vectors.
void DrawBlocks(const Chance& chance, uint64_t first, uint64_t step, uint32_t* to, int64_t blocks) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  for (int64_t b = 0; b < blocks; b += lanes) {
    HWY_ALIGN uint32_t low[HWY_MAX_BYTES / 4], high[HWY_MAX_BYTES / 4];
    const Words begin = chance.counter(first);
    for (int64_t k = 0; k < lanes; ++k) {
      const Words counter = chance.counter(first + step * static_cast<uint64_t>(b + k));
      low[k] = counter.w[0];
      high[k] = counter.w[3];
    }
    Blocks x{hn::Load(D(), low), hn::Set(D(), begin.w[1]), hn::Set(D(), begin.w[2]),
             hn::Load(D(), high)};
    auto k0 = static_cast<uint32_t>(chance.key()), k1 = static_cast<uint32_t>(chance.key() >> 32);
    for (int round = 0; round < kPhiloxRounds; ++round) {
      x.Round(k0, k1);
      k0 += kPhiloxSteps[0];
      k1 += kPhiloxSteps[1];
    }
    hn::StoreInterleaved4(x.x0, x.x1, x.x2, x.x3, D(), to + 4 * b);
  }
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace stoker
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker {
namespace {
HWY_EXPORT(DrawBlocks);
}  // namespace

void draw_words(const Chance& chance, uint64_t first, uint32_t* to, int64_t n) {
  constexpr int64_t kBlocks = 64;  // a multiple of the lanes of all targets
  alignas(64) uint32_t words[4 * kBlocks];
  while (n > 0) {
    const uint64_t skip = first % 4;
    const int64_t blocks = (static_cast<int64_t>(skip) + n + 3) / 4;
    if (skip == 0 && n >= 4 * kBlocks) {  // straight to its place
      const int64_t whole = n / (4 * kBlocks) * kBlocks;
      HWY_DYNAMIC_DISPATCH(DrawBlocks)(chance, first / 4, 1, to, whole);
      first += static_cast<uint64_t>(4 * whole), to += 4 * whole, n -= 4 * whole;
      continue;
    }
    HWY_DYNAMIC_DISPATCH(DrawBlocks)(chance, first / 4, 1, words, std::min(blocks, kBlocks));
    const int64_t some = std::min(n, 4 * kBlocks - static_cast<int64_t>(skip));
    std::copy_n(words + skip, some, to);
    first += static_cast<uint64_t>(some), to += some, n -= some;
  }
}

void draw_blocks(const Chance& chance, uint64_t first, uint64_t step, uint32_t* to,
                 int64_t blocks) {
  HWY_DYNAMIC_DISPATCH(DrawBlocks)(chance, first, step, to, blocks);
}

}  // namespace stoker
#endif
