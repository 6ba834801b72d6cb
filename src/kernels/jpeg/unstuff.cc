// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/jpeg/unstuff.h"

#include "kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/jpeg/unstuff.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stoker::jpeg {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

Unstuffed Unstuff(const uint8_t* from, int64_t size, uint8_t* to, int64_t room) {
  const hn::CappedTag<uint8_t, kUnstuffSlack> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto marker = hn::Set(d, 0xFF);
  const uint8_t* const begin = from;
  const uint8_t* const end = from + size;
  uint8_t* const out = to;
  while (to - out < room && from != end) {
    if (end - from >= lanes) {
      const auto v = hn::LoadU(d, from);
      hn::StoreU(v, d, to);
      const int64_t found = hn::FindFirstTrue(d, hn::Eq(v, marker));
      const int64_t plain = found < 0 ? lanes : found;
      from += plain, to += plain;
      if (found < 0) continue;
    } else if (*from != 0xFF) {
      *to++ = *from++;
      continue;
    }
    if (end - from < 2 || from[1] != 0) break;
    *to++ = 0xFF, from += 2;
  }
  return {from - begin, to - out};
}

int64_t CountStuffed(const uint8_t* data, int64_t size) {
  const hn::ScalableTag<uint8_t> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t count = 0, at = 0;
  for (; at + lanes <= size; at += lanes)
    count +=
        static_cast<int64_t>(hn::CountTrue(d, hn::Eq(hn::LoadU(d, data + at), hn::Set(d, 0xFF))));
  for (; at < size; ++at) count += data[at] == 0xFF;
  return count;
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker::jpeg
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker::jpeg {

HWY_EXPORT(Unstuff);
HWY_EXPORT(CountStuffed);

Unstuffed unstuff(const uint8_t* from, int64_t size, uint8_t* to, int64_t room) {
  return HWY_DYNAMIC_DISPATCH(Unstuff)(from, size, to, room);
}

int64_t count_stuffed(const uint8_t* data, int64_t size) {
  return HWY_DYNAMIC_DISPATCH(CountStuffed)(data, size);
}

}  // namespace stoker::jpeg
#endif
