// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Looking up values. Where vectors are long, bytes are picked out of 16 entries at a time.
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "kernels/rows/rows.h"

#include "kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows/rows_table.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stoker::rows {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Requires: the list has an entry for every byte.
void LookUpBytes(const uint8_t* list, const uint8_t* in, uint8_t* out, int64_t n) {
  int64_t i = 0;
#if HWY_TARGET <= HWY_AVX2
  const hn::ScalableTag<uint8_t> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto offset = hn::Set(d, 0x70);
  for (; i + lanes <= n; i += lanes) {
    const auto v = hn::LoadU(d, in + i);
    auto made = hn::Zero(d);
    for (int row = 0; row < 256; row += 16) {
      // Up to 0x7f, the low bits pick an entry of the row; more means another row, and gives 0.
      const auto place =
          hn::SaturatedAdd(hn::Xor(v, hn::Set(d, static_cast<uint8_t>(row))), offset);
      made = hn::Or(made, hn::TableLookupBytesOr0(hn::LoadDup128(d, list + row), place));
    }
    hn::StoreU(made, d, out + i);
  }
#else
  for (; i + 8 <= n; i += 8) {  // one load and one store for eight bytes
    uint64_t v, made = 0;
    std::memcpy(&v, in + i, 8);
    for (int k = 0; k < 64; k += 8) made |= uint64_t{list[v >> k & 255]} << k;
    std::memcpy(out + i, &made, 8);
  }
#endif
  for (; i < n; ++i) out[i] = list[in[i]];
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker::rows
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker::rows {
namespace {

HWY_EXPORT(LookUpBytes);

template <class T>
int64_t entry_of(T v, int64_t entries) {
  if constexpr (std::is_same_v<T, Bool>) return v.byte != 0;
  else if constexpr (std::is_same_v<T, uint8_t>) return v;
  else if constexpr (std::is_integral_v<T>)
    return static_cast<int64_t>(std::min(static_cast<uint64_t>(v), static_cast<uint64_t>(entries)));
  else return entries;
}

// Values may lie at any address.
template <class From, class To>
void look_up_each(const ValueStep& s, const void* in, void* out, int64_t n) {
  auto* from = static_cast<const std::byte*>(in);
  auto* to = static_cast<std::byte*>(out);
  for (int64_t i = 0; i < n; ++i) {
    From v;
    std::memcpy(&v, from + i * sizeof(From), sizeof v);
    std::memcpy(to + i * sizeof(To), s.list + entry_of(v, s.entries) * sizeof(To), sizeof(To));
  }
}

}  // namespace

void look_up(const ValueStep& s, const void* in, void* out, int64_t n) {
  if (s.from == DType::kUint8 && size_of(s.to) == 1) {
    HWY_DYNAMIC_DISPATCH(LookUpBytes)(reinterpret_cast<const uint8_t*>(s.list),
                                      static_cast<const uint8_t*>(in), static_cast<uint8_t*>(out),
                                      n);
    return;
  }
  with_type(s.from, [&](auto zero) {
    with_size(size_of(s.to),
              [&](auto bits) { look_up_each<decltype(zero), decltype(bits)>(s, in, out, n); });
  });
}

}  // namespace stoker::rows
#endif
