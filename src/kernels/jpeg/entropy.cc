// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/jpeg/entropy.h"

#include <array>

#include "kernels/jpeg/idct.h"
#include "kernels/jpeg/zigzag.h"

// No vectors here, but on x86 the shifts of BMI2, which need no fixed register.
#include "kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/jpeg/entropy.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/jpeg/bits_inl.h"

HWY_BEFORE_NAMESPACE();
namespace stoker::jpeg {
namespace HWY_NAMESPACE {

// Where the coefficient of a position lies behind the first one of its block. What has a position
// that no block has goes to that first one, which is written last.
constexpr std::array<uint16_t, 256> kPlaces = [] {
  std::array<uint16_t, 256> places{};
  for (size_t k = 0; k < 64; ++k)
    places[k] = static_cast<uint16_t>(kZigzag[k] / 8 * 8 * kBlocksInGroup + kZigzag[k] % 8);
  return places;
}();

// Whether the position behind the last symbol of a block says that it was one.
HWY_INLINE bool IsWhole(uint64_t position) {
  return position == 63 || (position >= kEndOfBlock && position < kEndOfBlock + 63);
}

// Reads a block. Returns whether it is one. Not inlined, so that all of it lies in registers.
HWY_NOINLINE bool ReadBlock(BitReader& reader, const McuBlock& block, int16_t* to) {
  BitReader r = reader;
  int32_t difference;
  if (HWY_UNLIKELY(!ReadDc(r, *block.dc, difference))) return false;
  uint64_t position = 0, bits, before;
  const AcTable& table = *block.ac;
  Pair p;
  const auto step = [&]() HWY_ATTR {
    bits = r.bits;
    p.bits = table.pairs[bits >> (64 - kPairBits)];
    if (HWY_UNLIKELY(p.bits == 0)) p = Pair::of(find_symbol(table, bits));
    Use(r, bits, p.total());
    before = position + p.first_advance();
    position += p.advance();
    to[kPlaces[before]] = p.first();
    to[kPlaces[position]] = static_cast<int16_t>(ValueOf(bits << p.second_at(), p.second_shift()));
  };
  do {
    Refill(r);  // enough for two entries
    step();
    if (position >= 63) break;
    step();
  } while (position < 63);
  if (HWY_UNLIKELY(before == 63 && position != 63)) {  // the second symbol is of the next block
    r.count += p.total();
    Use(r, bits, p.first_total());
    position = 63;
  }
  reader = r;
  *block.predictor += difference;
  to[0] = static_cast<int16_t>(*block.predictor);
  return IsWhole(position);
}

// Goes over the last entry again, one symbol at a time.
HWY_NOINLINE uint64_t SkipRest(BitReader& r, const AcTable& table, uint64_t position) {
  while (position < 63) {
    Single s{table.singles[r.bits >> (64 - kSingleBits)]};
    if (s.bits == 0) s = find_symbol(table, r.bits);
    position += s.advance();
    Use(r, r.bits, s.total());
    Refill(r);
  }
  return position;
}

// Passes over a block. Returns whether it is one.
HWY_NOINLINE bool SkipBlock(BitReader& reader, const McuBlock& block) {
  BitReader r = reader;
  int32_t difference;
  if (HWY_UNLIKELY(!ReadDc(r, *block.dc, difference))) return false;
  uint64_t position = 0, bits, before, used;
  const AcTable& table = *block.ac;
  const auto step = [&]() HWY_ATTR {
    bits = r.bits;
    uint64_t entry = table.skips[bits >> (64 - kSkipBits)];
    if (HWY_UNLIKELY(entry == 0)) {
      const Single s = find_symbol(table, bits);
      entry = s.total() | s.advance() << 8;
    }
    before = position;
    used = entry & 255;
    position += entry >> 8;
    Use(r, bits, used);
  };
  do {
    Refill(r);
    step();
    if (position >= 63) break;
    step();
  } while (position < 63);
  if (HWY_UNLIKELY(!IsWhole(position))) {  // perhaps only because of symbols of the next block
    r.bits = bits;
    r.count += used;
    position = SkipRest(r, table, before);
  }
  reader = r;
  *block.predictor += difference;
  return IsWhole(position);
}

HWY_INLINE bool ReadOne(const McuBlock& block, int64_t mcu, BitReader& r) {
  if (!block.row) return SkipBlock(r, block);
  const int64_t at = mcu * block.across + block.first;
  return ReadBlock(r, block,
                   block.row + at / kBlocksInGroup * kGroupSize + at % kBlocksInGroup * 8);
}

// With a loop for each usual number of blocks, so that each block has a branch of its own.
template <int kCount>
McusRead ReadMcusOf(const Mcu& mcu, int64_t begin, int64_t end, const uint8_t* limit,
                    BitReader& reader) {
  const int count = kCount ? kCount : mcu.count;
  BitReader r = reader;
  bool is_good = true;
  int64_t x = begin;
  for (; x < end && r.next <= limit && is_good; ++x) {
    for (int b = 0; b < count; ++b) is_good &= ReadOne(mcu.blocks[b], x, r);
  }
  reader = r;
  return {x, is_good};
}

McusRead ReadMcus(const Mcu& mcu, int64_t begin, int64_t end, const uint8_t* limit,
                  BitReader& reader) {
  switch (mcu.count) {
    case 1: return ReadMcusOf<1>(mcu, begin, end, limit, reader);
    case 3: return ReadMcusOf<3>(mcu, begin, end, limit, reader);
    case 4: return ReadMcusOf<4>(mcu, begin, end, limit, reader);
    case 6: return ReadMcusOf<6>(mcu, begin, end, limit, reader);
    default: return ReadMcusOf<0>(mcu, begin, end, limit, reader);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker::jpeg
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker::jpeg {

HWY_EXPORT(ReadMcus);

McusRead read_mcus(const Mcu& mcu, int64_t begin, int64_t end, const uint8_t* limit,
                   BitReader& reader) {
  return HWY_DYNAMIC_DISPATCH(ReadMcus)(mcu, begin, end, limit, reader);
}

BitReader bits_at(const uint8_t* data, int bit) {
  BitReader r{.next = data};
  if (bit == 0) return r;
  r.bits = uint64_t{*data} << (56 + bit);
  r.count = static_cast<uint64_t>(8 - bit);
  ++r.next;
  return r;
}

}  // namespace stoker::jpeg
#endif
