// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/jpeg/huffman.h"

#include <algorithm>
#include <cstring>

#include "kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/jpeg/huffman.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace stoker::jpeg {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Longs = hn::ScalableTag<uint32_t>;
using Long = hn::Vec<Longs>;

HWY_INLINE Long All(uint32_t v) { return hn::Set(Longs(), v); }
HWY_INLINE hn::Mask<Longs> IsAtMost(Long v, uint32_t most) { return hn::Lt(v, All(most + 1)); }
HWY_INLINE Long LowByte(Long v) { return hn::And(v, All(255)); }

// Symbols as those of `singles`, one in each lane.
struct Symbols {
  Long total, length, size, advance;
  hn::Mask<Longs> is_known;

  HWY_INLINE explicit Symbols(Long entry)
      : total(LowByte(entry)),
        length(LowByte(hn::ShiftRight<8>(entry))),
        size(LowByte(hn::ShiftRight<16>(entry))),
        advance(hn::ShiftRight<24>(entry)),
        is_known(hn::Ne(entry, hn::Zero(Longs()))) {}
};

// The symbols at the top of words of kBits bits, of which `used` are behind us.
template <int kBits>
HWY_INLINE Symbols SymbolsAt(const uint32_t* singles, Long words, Long used) {
  const Long rest = hn::And(words << used, All((1 << kBits) - 1));
  const Long index = hn::ShiftLeft<kSingleBits - kBits>(rest);
  return Symbols(
      hn::GatherIndex(Longs(), singles, hn::BitCast(hn::RebindToSigned<Longs>(), index)));
}

// The values of `size` bits that end the first `total` of kPairBits bits.
HWY_INLINE Long ValuesOf(Long words, Long total, Long size) {
  const Long one = All(1), range = one << size;
  const Long bits = hn::And(words >> hn::Sub(All(kPairBits), total), hn::Sub(range, one));
  const auto is_negative = hn::Lt(bits, hn::ShiftRight<1>(range));
  return hn::Add(bits, hn::IfThenElseZero(is_negative, hn::Sub(one, range)));
}

HWY_INLINE void MakePairs(const uint32_t* singles, uint32_t at, uint64_t* pairs) {
  const Long words = hn::Iota(Longs(), at), zero = hn::Zero(Longs());
  const Symbols a = SymbolsAt<kPairBits>(singles, words, zero);
  const auto is_first = hn::And(a.is_known, IsAtMost(a.length, kPairBits));
  // A used-up word has nothing left to look up.
  const Long used = hn::Min(a.total, All(kPairBits));
  const Symbols b = SymbolsAt<kPairBits>(singles, words, used);
  const auto fits = IsAtMost(hn::Add(a.total, b.length), kPairBits);
  const auto goes_on = hn::And(hn::Lt(a.advance, All(kBadCode)), IsAtMost(a.size, 7));
  const auto both = hn::And(hn::And(is_first, b.is_known), hn::And(fits, goes_on));
  const Long first = hn::IfThenElseZero(both, ValuesOf(words, used, a.size));
  const auto with_b = [&](Long of_a, Long of_b)
                          HWY_ATTR { return hn::Add(of_a, hn::IfThenElseZero(both, of_b)); };
  const Long total = with_b(a.total, b.total), advance = with_b(a.advance, b.advance);
  const Long second_at = hn::IfThenElse(both, hn::Add(a.total, b.length), a.length);
  const Long shift = hn::Sub(All(63), hn::IfThenElse(both, b.size, a.size));
  const Long low = hn::Or3(total, hn::ShiftLeft<8>(second_at), hn::ShiftLeft<16>(shift));
  const Long high = hn::Or(hn::Or(a.advance, hn::ShiftLeft<8>(LowByte(first))),
                           hn::Or(hn::ShiftLeft<16>(a.total), hn::ShiftLeft<24>(advance)));
  HWY_ALIGN uint32_t halves[HWY_MAX_BYTES / 2];
  hn::StoreInterleaved2(hn::IfThenElseZero(is_first, low), hn::IfThenElseZero(is_first, high),
                        Longs(), halves);
  std::memcpy(pairs + at, halves, 8 * hn::Lanes(Longs()));
}

void BuildPairs(const uint32_t* singles, uint64_t* pairs) {
  for (uint32_t at = 0; at < 1 << kPairBits; at += static_cast<uint32_t>(hn::Lanes(Longs())))
    MakePairs(singles, at, pairs);
}

HWY_INLINE void MakeSkips(const uint32_t* singles, uint32_t at, uint16_t* skips) {
  const Long words = hn::Iota(Longs(), at);
  const Symbols a = SymbolsAt<kSkipBits>(singles, words, hn::Zero(Longs()));
  Long total = a.total, advance = a.advance;
  auto goes_on = a.is_known;
  for (int more = 0; more < 3; ++more) {
    // The last symbol may have ended the block, or its value may reach behind the word.
    goes_on =
        hn::And(goes_on, hn::And(hn::Lt(advance, All(kBadCode)), hn::Lt(total, All(kSkipBits))));
    const Symbols b = SymbolsAt<kSkipBits>(singles, words, hn::Min(total, All(kSkipBits)));
    goes_on = hn::And(goes_on, hn::And(b.is_known, IsAtMost(hn::Add(total, b.length), kSkipBits)));
    total = hn::Add(total, hn::IfThenElseZero(goes_on, b.total));
    advance = hn::Add(advance, hn::IfThenElseZero(goes_on, b.advance));
  }
  const Long entry = hn::IfThenElseZero(a.is_known, hn::Or(total, hn::ShiftLeft<8>(advance)));
  const hn::Rebind<uint16_t, Longs> words16;
  hn::StoreU(hn::TruncateTo(words16, entry), words16, skips + at);
}

void BuildSkips(const uint32_t* singles, uint16_t* skips) {
  for (uint32_t at = 0; at < 1 << kSkipBits; at += static_cast<uint32_t>(hn::Lanes(Longs())))
    MakeSkips(singles, at, skips);
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker::jpeg
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker::jpeg {
namespace {

HWY_EXPORT(BuildPairs);
HWY_EXPORT(BuildSkips);

// Of what no file of 8 bits holds. It takes no bits, so a decoder gets no further.
constexpr Single kBad = Single::of(0, 0, kBadCode);

Single dc_symbol(uint32_t length, uint32_t symbol) {
  return symbol <= kLargestDc ? Single::of(length, symbol, 0) : kBad;
}
Single ac_symbol(uint32_t length, uint32_t symbol) {
  const uint32_t size = symbol & 15, zeros = symbol >> 4;
  if (size > kLargestAc) return kBad;
  return Single::of(length, size, size > 0 || zeros == 15 ? zeros + 1 : kEndOfBlock);
}

Single band_symbol(uint32_t length, uint32_t symbol) {
  const uint32_t size = symbol & 15, zeros = symbol >> 4;
  if (size > kLargestAc) return kBad;
  if (size > 0 || zeros == 15) return Single::of(length, size, zeros + 1);
  return Single::of(length, zeros, kEndOfBlock);
}
Single refining_symbol(uint32_t length, uint32_t symbol) {
  return (symbol & 15) <= 1 ? band_symbol(length, symbol) : kBad;
}

using MakeSymbol = Single (*)(uint32_t length, uint32_t symbol);

// Words of a code are numbers that count up, and double where they get longer.
void build_symbols(const HuffmanCode& code, MakeSymbol make, LongCodes& longs, uint32_t* singles) {
  uint32_t* to = singles;
  uint32_t word = 0;
  int32_t at = 0;
  for (uint32_t length = 1; length <= kLongestCode; ++length, word *= 2) {
    const int32_t end = at + code.counts[length - 1];
    longs.offsets[length] = at - static_cast<int32_t>(word);
    word += static_cast<uint32_t>(end - at);
    longs.ends[length] = word << (kLongestCode - length);
    for (; at < end; ++at) {
      longs.symbols[at] = code.symbols[at];
      if (length > kSingleBits) continue;
      const Single s = make(length, code.symbols[at]);
      to = std::fill_n(to, 1 << (kSingleBits - length), s.advance() == kBadCode ? 0 : s.bits);
    }
  }
  std::fill(to, singles + (1 << kSingleBits), 0);
}

Single find_long(const LongCodes& longs, uint64_t bits, MakeSymbol make) {
  const auto word = static_cast<uint32_t>(bits >> (64 - kLongestCode));
  for (uint32_t length = 1; length <= kLongestCode; ++length)
    if (word < longs.ends[length]) {
      const auto of_length = static_cast<int32_t>(word >> (kLongestCode - length));
      return make(length, longs.symbols[of_length + longs.offsets[length]]);
    }
  return kBad;
}

}  // namespace

int HuffmanCode::size() const {
  int sum = 0;
  for (int i = 0; i < kLongestCode; ++i) sum += counts[i];
  return sum;
}

bool HuffmanCode::is_valid() const {
  if (size() > 256) return false;
  int free = 1;  // words of this length that begin no shorter one
  for (int i = 0; i < kLongestCode; ++i) {
    free = 2 * free - counts[i];
    if (free < 1) return false;
  }
  return true;
}

void DcTable::build(const HuffmanCode& code) { build_symbols(code, dc_symbol, longs, singles); }
void AcTable::build(const HuffmanCode& code) {
  build_symbols(code, ac_symbol, longs, singles);
  HWY_DYNAMIC_DISPATCH(BuildPairs)(singles, pairs);
}
void AcTable::build_skips() { HWY_DYNAMIC_DISPATCH(BuildSkips)(singles, skips); }

void BandTable::build(const HuffmanCode& code, bool is_refinement) {
  refines = is_refinement;
  build_symbols(code, refines ? refining_symbol : band_symbol, longs, singles);
}

Single find_symbol(const DcTable& table, uint64_t bits) {
  return find_long(table.longs, bits, dc_symbol);
}
Single find_symbol(const AcTable& table, uint64_t bits) {
  return find_long(table.longs, bits, ac_symbol);
}
Single find_symbol(const BandTable& table, uint64_t bits) {
  return find_long(table.longs, bits, table.refines ? refining_symbol : band_symbol);
}

}  // namespace stoker::jpeg
#endif
