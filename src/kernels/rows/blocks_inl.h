// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Vectors with a pixel in each block of 128 bits. Compiled for each target, as Highway's -inl files
// are; not for SCALAR, which has no blocks.
#include <cstddef>
#include <cstdint>

#if defined(STOKER_BLOCKS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef STOKER_BLOCKS_INL_H
#undef STOKER_BLOCKS_INL_H
#else
#define STOKER_BLOCKS_INL_H
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stoker::rows {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
// Loads 16 bytes into each block, from as many offsets.
HWY_INLINE hn::Vec<hn::ScalableTag<uint8_t>> LoadBlocks(const std::byte* from,
                                                        const int64_t* offset) {
  const hn::Full128<uint8_t> block;
  const auto load = [&](int i) HWY_ATTR {
    return hn::LoadU(block, reinterpret_cast<const uint8_t*>(from + offset[i]));
  };
#if HWY_TARGET <= HWY_AVX3
  const hn::ScalableTag<uint8_t> all;
  const hn::Full256<uint8_t> half;
  return hn::Combine(all, hn::Combine(half, load(3), load(2)), hn::Combine(half, load(1), load(0)));
#elif HWY_TARGET == HWY_AVX2
  return hn::Combine(hn::ScalableTag<uint8_t>(), load(1), load(0));
#else
  return load(0);
#endif
}

// Fills each block of a vector of floats with the next one of a list, as TableLookupLanes() does.
HWY_INLINE auto BlockIndices() {
  const hn::ScalableTag<float> d;
  HWY_ALIGN int32_t order[HWY_MAX_BYTES / 4];
  for (size_t l = 0; l < hn::Lanes(d); ++l) order[l] = static_cast<int32_t>(l / 4);
  return hn::SetTableIndices(d, order);
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace stoker::rows
HWY_AFTER_NAMESPACE();

#endif
