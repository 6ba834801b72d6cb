// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Values as unsigned whole numbers in the same order: what only compares values has one loop for
// each size, and the same results on every CPU and device.
#pragma once
#include <type_traits>

#include "kernels/convert.h"

namespace stoker {

// -0 comes before 0, and every NaN is the same and comes last.
template <class V>
struct SortKey {
  using Value = V;
  using Key = std::conditional_t<
      sizeof(V) == 1, uint8_t,
      std::conditional_t<sizeof(V) == 2, uint16_t,
                         std::conditional_t<sizeof(V) == 4, uint32_t, uint64_t>>>;
  static constexpr Key kSign = static_cast<Key>(Key{1} << (8 * sizeof(V) - 1));
  static constexpr bool kFloat = std::is_floating_point_v<V> || std::is_same_v<V, Half>;
  static constexpr Key kLast = static_cast<Key>(~Key{0});
  static constexpr bool kIsValue = !kFloat && !std::is_signed_v<V>;  // a value's bits are its key

  STOKER_HD static Key of(V v) {
    const Key bits = __builtin_bit_cast(Key, v);
    if constexpr (kFloat) {
      const bool is_nan = (bits & ~kSign) > kInfinity;
      const Key ordered = bits & kSign ? static_cast<Key>(~bits) : static_cast<Key>(bits | kSign);
      return is_nan ? kLast : ordered;
    } else if constexpr (std::is_signed_v<V>) {
      return static_cast<Key>(bits ^ kSign);
    } else {
      return bits;
    }
  }
  STOKER_HD static V value(Key key) {
    Key bits = key;
    if constexpr (kFloat) bits = static_cast<Key>(key & kSign ? key ^ kSign : ~key);
    else if constexpr (std::is_signed_v<V>) bits = static_cast<Key>(key ^ kSign);
    return __builtin_bit_cast(V, bits);
  }

 private:
  static constexpr Key kInfinity = static_cast<Key>(sizeof(V) == 2   ? 0x7c00
                                                    : sizeof(V) == 4 ? 0x7f800000
                                                                     : 0x7ff0000000000000);
};

}  // namespace stoker
