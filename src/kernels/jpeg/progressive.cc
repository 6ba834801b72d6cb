// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/jpeg/progressive.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "kernels/jpeg/idct.h"
#include "kernels/jpeg/zigzag.h"

#include "kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/jpeg/progressive.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/jpeg/bits_inl.h"

HWY_BEFORE_NAMESPACE();
namespace stoker::jpeg {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr uint64_t kDcPlace = 63;
constexpr hn::CappedTag<int16_t, 32> kValues;
using Value = hn::Vec<decltype(kValues)>;

// The next `count` bits. Requires: count < 64, and they are ready.
HWY_INLINE uint64_t Peek(uint64_t bits, uint64_t count) { return (bits >> 1) >> (63 - count); }
// The same for any bits that are not ready.
HWY_INLINE uint64_t Take(BitReader& r, uint64_t count) {
  Refill(r);
  uint64_t high = 0;
  if (HWY_UNLIKELY(count > 56)) {
    high = Peek(r.bits, 32) << (count - 32);
    Use(r, r.bits, 32);
    Refill(r);
    count -= 32;
  }
  const uint64_t low = Peek(r.bits, count);
  Use(r, r.bits, count);
  return high | low;
}

// The symbols of blocks [begin, end) in one loop, so that the end of a block is no branch.
McusRead ReadFirst(const Band& band, int64_t begin, int64_t end, const uint8_t* limit,
                   BitReader& reader) {
  const uint64_t before = static_cast<uint64_t>(band.first - 1);
  const auto last = static_cast<uint64_t>(band.last), stop = 64 * static_cast<uint64_t>(end);
  const int shift = band.shift;
  int16_t* const row = band.row;
  const BandTable& table = *band.table;
  BitReader r = reader;
  uint64_t base = 64 * static_cast<uint64_t>(begin + *band.run), k = before, bad = 0;
  const auto step = [&]() HWY_ATTR {
    Single s{table.singles[r.bits >> (64 - kSingleBits)]};
    const bool is_long = s.bits == 0;
    if (HWY_UNLIKELY(is_long)) s = find_symbol(table, r.bits);
    const uint64_t bits = r.bits << s.length(), size = s.size();
    Use(r, r.bits, s.total());
    if (HWY_UNLIKELY(is_long)) Refill(r);
    k += s.advance();
    // The end of blocks has a value that tells how many, and none that is stored.
    row[base + (k > 63 ? kDcPlace : k ^ 63)] =
        static_cast<int16_t>(ValueOf(bits, 63 - size) << shift);
    const uint64_t ends = -static_cast<uint64_t>(s.bits >> 31);
    const uint64_t run = 1 + ((((uint64_t{1} << size) - 1) + Peek(bits, size)) & ends);
    bad |= (k - last - 1 < kEndOfBlock - 1 - last);
    const bool is_done = k >= last;
    base += is_done ? 64 * run : 0;
    k = is_done ? before : k;
  };
  while (base < stop && (r.next <= limit || k != before)) {
    Refill(r);  // enough for two entries of the table
    step();
    if (base >= stop) break;
    step();
  }
  reader = r;
  const auto behind = static_cast<int64_t>(base / 64);
  *band.run = static_cast<int32_t>(std::max<int64_t>(behind - end, 0));
  return {std::min(behind, end), bad == 0};
}

// A bit for each value that is not zero.
HWY_INLINE uint64_t NonZero(const int16_t* block) {
  uint64_t mask = 0;
  if constexpr (hn::MaxLanes(kValues) < 8) {
    for (uint64_t i = 0; i < 64; ++i) mask |= uint64_t{block[i] != 0} << i;
  } else {
    HWY_ALIGN uint8_t bytes[16];
    for (size_t i = 0; i < 64; i += hn::Lanes(kValues))
      hn::StoreMaskBits(kValues, hn::Ne(hn::Load(kValues, block + i), hn::Zero(kValues)),
                        bytes + i / 8);
    std::memcpy(&mask, bytes, sizeof mask);
  }
  return mask;
}

// Of what a scan changes in a block, a bit for each value.
struct Changes {
  uint64_t grows = 0;  // by one, away from zero
  uint64_t begins = 0, is_negative = 0;
};

HWY_INLINE hn::Mask<decltype(kValues)> MaskAt(const uint8_t* bytes, size_t value) {
  return hn::LoadMaskBits(kValues, bytes + value / 8);
}
HWY_INLINE void Apply(const Changes& c, int16_t one, int16_t* block) {
  if constexpr (hn::MaxLanes(kValues) < 8) {
    for (uint64_t i = 0; i < 64; ++i) {
      if (c.grows >> i & 1) block[i] = static_cast<int16_t>(block[i] + (block[i] < 0 ? -one : one));
      if (c.begins >> i & 1) block[i] = static_cast<int16_t>(c.is_negative >> i & 1 ? -one : one);
    }
  } else {
    uint8_t grows[16] = {}, begins[16] = {}, is_negative[16] = {};
    std::memcpy(grows, &c.grows, 8);
    std::memcpy(begins, &c.begins, 8);
    std::memcpy(is_negative, &c.is_negative, 8);
    const Value plus = hn::Set(kValues, one), minus = hn::Neg(plus);
    for (size_t i = 0; i < 64; i += hn::Lanes(kValues)) {
      Value v = hn::Load(kValues, block + i);
      const Value more = hn::IfNegativeThenElse(v, minus, plus);
      v = hn::Add(v, hn::IfThenElseZero(MaskAt(grows, i), more));
      const Value first = hn::IfThenElse(MaskAt(is_negative, i), minus, plus);
      hn::Store(hn::IfThenElse(MaskAt(begins, i), first, v), kValues, block + i);
    }
  }
}

// The places of the ones in each byte, one in each byte of the entry, from the highest bit on.
constexpr std::array<uint64_t, 256> kOnes = [] {
  std::array<uint64_t, 256> ones{};
  for (size_t byte = 0; byte < 256; ++byte)
    for (uint64_t bit = 0, count = 0; bit < 8; ++bit)
      if (byte >> (7 - bit) & 1) ones[byte] |= bit << (8 * count++);
  return ones;
}();

// The positions that are zero in a block, in their order.
class Zeros {
 public:
  HWY_INLINE explicit Zeros(uint64_t mask) {
    for (uint64_t begin = 0; begin < 64; begin += 8) {
      const uint64_t byte = mask >> (56 - begin) & 255;
      const uint64_t positions = kOnes[byte] + begin * 0x0101010101010101;
      std::memcpy(positions_ + count_, &positions, sizeof positions);
      count_ += static_cast<uint64_t>(std::popcount(byte));
    }
  }
  // Passes `count` of them. Returns whether there are so many.
  HWY_INLINE bool Pass(uint64_t count) { return (passed_ += count) <= count_; }
  HWY_INLINE uint64_t passed() const { return passed_; }
  HWY_INLINE uint64_t last() const { return positions_[passed_ - 1]; }  // of those

 private:
  uint8_t positions_[64 + 8];
  uint64_t count_ = 0, passed_ = 0;
};

// Puts the lowest bits of `bits` where `mask` has ones, in their order.
HWY_INLINE uint64_t Deposit(uint64_t bits, uint64_t mask) {
#if HWY_ARCH_X86_64 && HWY_TARGET <= HWY_AVX3
  return _pdep_u64(bits, mask);
#else
  uint64_t result = 0;
  for (; mask; mask &= mask - 1, bits >>= 1) result |= (mask & -mask) & -(bits & 1);
  return result;
#endif
}

HWY_INLINE uint64_t Positions(uint64_t first, uint64_t last) {
  return ~uint64_t{0} >> first & ~uint64_t{0} << (63 - last);
}

// One block of a scan that refines.
class Refined {
 public:
  HWY_INLINE Refined(BitReader& r, uint64_t nonzero) : r_(r), nonzero_(nonzero) {}

  // Reads symbols up to the end of the band, or the one that ends the block and so many behind it.
  // Returns false at what does not fit into the band.
  HWY_INLINE bool ReadSymbols(const BandTable& table, uint64_t first, uint64_t last,
                              uint64_t& run) {
    Zeros zeros(Positions(first, last) & ~nonzero_);
    for (uint64_t k = 0; k != last;) {
      Refill(r_);
      Single s{table.singles[r_.bits >> (64 - kSingleBits)]};
      if (HWY_UNLIKELY(s.bits == 0)) s = find_symbol(table, r_.bits);
      const uint64_t bits = r_.bits << s.length(), size = s.size();
      if (s.advance() >= kBadCode) {
        run = (uint64_t{1} << size) + Peek(bits, size);
        Use(r_, r_.bits, s.total());
        return s.advance() == kEndOfBlock;
      }
      if (HWY_UNLIKELY(!zeros.Pass(s.advance()))) return false;
      k = zeros.last();
      const uint64_t begins = size << (63 - k);
      changes_.begins |= begins;
      changes_.is_negative |= begins & ((bits >> 63) - 1);
      ReadMore(s.total(), k - first - (zeros.passed() - 1));
    }
    return true;
  }
  // Reads the bits of all that was not zero.
  HWY_INLINE void ReadRest() {
    const auto all = static_cast<uint64_t>(std::popcount(nonzero_));
    bits_ = ((bits_ << (all - read_)) | Take(r_, all - read_));
    read_ = all;
  }
  HWY_INLINE Changes changes() {
    changes_.grows = Deposit(bits_, nonzero_);
    return changes_;
  }

 private:
  // Uses a symbol, and reads bits up to the first `all` of those that were not zero.
  HWY_INLINE void ReadMore(uint64_t symbol, uint64_t all) {
    const uint64_t count = all - read_;
    read_ = all;
    if (HWY_LIKELY(symbol + count <= 56)) {
      bits_ = (bits_ << count) | Peek(r_.bits << symbol, count);
      Use(r_, r_.bits, symbol + count);
    } else {
      Use(r_, r_.bits, symbol);
      bits_ = (bits_ << count) | Take(r_, count);
    }
  }

  BitReader& r_;
  const uint64_t nonzero_;
  uint64_t bits_ = 0, read_ = 0;  // of what was not zero
  Changes changes_;
};

McusRead Refine(const Band& band, int64_t begin, int64_t end, const uint8_t* limit,
                BitReader& reader) {
  const auto first = static_cast<uint64_t>(band.first), last = static_cast<uint64_t>(band.last);
  const uint64_t mask = Positions(first, last);
  const auto one = static_cast<int16_t>(1 << band.shift);
  BitReader r = reader;
  auto run = static_cast<uint64_t>(*band.run);
  bool is_good = true;
  int64_t x = begin;
  for (; x < end && r.next <= limit && is_good; ++x) {
    int16_t* const block = band.row + 64 * x;
    const uint64_t nonzero = NonZero(block) & mask;
    if (run > 0 && nonzero == 0) {
      --run;
      continue;
    }
    Refined refined(r, nonzero);
    if (run == 0) is_good = refined.ReadSymbols(*band.table, first, last, run);
    if (run > 0) {
      --run;
      refined.ReadRest();
    }
    Apply(refined.changes(), one, block);
  }
  reader = r;
  *band.run = static_cast<int32_t>(run);
  return {x, is_good};
}

McusRead ReadBand(const Band& band, int64_t begin, int64_t end, const uint8_t* limit,
                  BitReader& reader) {
  return (band.table->refines ? Refine : ReadFirst)(band, begin, end, limit, reader);
}

template <class ReadOne>
HWY_INLINE McusRead EachBlock(const Mcu& mcu, int64_t begin, int64_t end, const uint8_t* limit,
                              BitReader& reader, const ReadOne& read_one) {
  BitReader r = reader;
  bool is_good = true;
  int64_t x = begin;
  for (; x < end && r.next <= limit && is_good; ++x)
    for (int b = 0; b < mcu.count; ++b) {
      const McuBlock& block = mcu.blocks[b];
      is_good &= read_one(r, block, block.row[x * block.across + block.first]);
    }
  reader = r;
  return {x, is_good};
}

McusRead ReadDcs(const Mcu& mcu, int shift, int64_t begin, int64_t end, const uint8_t* limit,
                 BitReader& reader) {
  return EachBlock(mcu, begin, end, limit, reader,
                   [shift](BitReader& r, const McuBlock& block, int16_t& to) HWY_ATTR {
                     int32_t difference;
                     if (HWY_UNLIKELY(!ReadDc(r, *block.dc, difference))) return false;
                     *block.predictor += difference;
                     to = static_cast<int16_t>(*block.predictor << shift);
                     return true;
                   });
}

McusRead RefineDcs(const Mcu& mcu, int shift, int64_t begin, int64_t end, const uint8_t* limit,
                   BitReader& reader) {
  return EachBlock(mcu, begin, end, limit, reader,
                   [shift](BitReader& r, const McuBlock&, int16_t& to) HWY_ATTR {
                     to = static_cast<int16_t>(to | Take(r, 1) << shift);
                     return true;
                   });
}

#if HWY_TARGET <= HWY_AVX3
// Where each value of a block in natural order lies in the reverse one.
alignas(64) constexpr std::array<uint16_t, 64> kSources = [] {
  std::array<uint16_t, 64> sources{};
  for (size_t k = 0; k < 64; ++k) sources[kZigzag[k]] = static_cast<uint16_t>(63 - k);
  return sources;
}();

HWY_INLINE void MakeGroup(const int16_t* block, int16_t* to) {
  HWY_ALIGN int16_t natural[64];
  const Value a = hn::Load(kValues, block), b = hn::Load(kValues, block + 32);
  for (size_t half = 0; half < 64; half += 32) {
    const __m512i sources = _mm512_load_si512(kSources.data() + half);
    _mm512_store_si512(natural + half, _mm512_permutex2var_epi16(a.raw, sources, b.raw));
  }
  for (int64_t row = 0; row < 8; ++row)
    std::memcpy(to + row * 8 * kBlocksInGroup, natural + 8 * row, 16);
}
#else
// Where each value of the reverse order belongs in a group.
constexpr std::array<uint8_t, 64> kTargets = [] {
  std::array<uint8_t, 64> targets{};
  for (size_t k = 0; k < 64; ++k)
    targets[63 - k] = static_cast<uint8_t>(kZigzag[k] / 8 * 8 * kBlocksInGroup + kZigzag[k] % 8);
  return targets;
}();

HWY_INLINE void MakeGroup(const int16_t* block, int16_t* to) {
  for (int64_t row = 0; row < 8; ++row) std::memset(to + row * 8 * kBlocksInGroup, 0, 16);
  for (uint64_t mask = NonZero(block); mask; mask &= mask - 1) {
    const auto at = static_cast<size_t>(std::countr_zero(mask));
    to[kTargets[at]] = block[at];
  }
}
#endif

void MakeGroups(const int16_t* blocks, const int16_t* dc, int64_t count, int16_t* groups) {
  for (int64_t x = 0; x < count; ++x) {
    int16_t* const to = groups + x / kBlocksInGroup * kGroupSize + x % kBlocksInGroup * 8;
    MakeGroup(blocks + 64 * x, to);
    to[0] = dc[x];
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker::jpeg
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker::jpeg {

HWY_EXPORT(ReadBand);
HWY_EXPORT(ReadDcs);
HWY_EXPORT(RefineDcs);
HWY_EXPORT(MakeGroups);

McusRead read_band(const Band& band, int64_t begin, int64_t end, const uint8_t* limit,
                   BitReader& reader) {
  return HWY_DYNAMIC_DISPATCH(ReadBand)(band, begin, end, limit, reader);
}

McusRead read_dc(const Mcu& mcu, int shift, int64_t begin, int64_t end, const uint8_t* limit,
                 BitReader& reader) {
  return HWY_DYNAMIC_DISPATCH(ReadDcs)(mcu, shift, begin, end, limit, reader);
}

McusRead refine_dc(const Mcu& mcu, int shift, int64_t begin, int64_t end, const uint8_t* limit,
                   BitReader& reader) {
  return HWY_DYNAMIC_DISPATCH(RefineDcs)(mcu, shift, begin, end, limit, reader);
}

void make_groups(const int16_t* blocks, const int16_t* dc, int64_t count, int16_t* groups) {
  HWY_DYNAMIC_DISPATCH(MakeGroups)(blocks, dc, count, groups);
}

}  // namespace stoker::jpeg
#endif
