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

namespace stoker::jpeg {
// out[i] = table[places[i]]. Compiled once, as a CPU's own gather takes longer than single loads.
void look_up(const uint32_t* table, const uint32_t* places, uint32_t n, uint32_t* out);
}  // namespace stoker::jpeg

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

// The entries of the words of kBits bits [at, at + lanes) in a table of words of kSingleBits bits.
template <int kBits>
HWY_INLINE Long EntriesAt(const uint32_t* table, uint32_t at) {
  static_assert(kBits == kSingleBits || kBits == kSingleBits - 1);
  if constexpr (kBits == kSingleBits) return hn::LoadU(Longs(), table + at);
  Long even, odd;
  hn::LoadInterleaved2(Longs(), table + 2 * at, even, odd);
  return even;
}

// Finds, for each word of kBits bits, the entry of what is behind its first used(at) bits.
template <int kBits, class Used>
HWY_INLINE void FindRests(const uint32_t* table, const Used& used, uint32_t* rests) {
  constexpr uint32_t kWords = 1 << kBits;
  HWY_ALIGN uint32_t places[kWords];
  for (uint32_t at = 0; at < kWords; at += static_cast<uint32_t>(hn::Lanes(Longs()))) {
    // A used-up word has nothing left to look up.
    const Long rest = hn::Iota(Longs(), at) << hn::Min(used(at), All(kBits));
    hn::Store(hn::ShiftLeft<kSingleBits - kBits>(hn::And(rest, All(kWords - 1))), Longs(),
              places + at);
  }
  look_up(table, places, kWords, rests);
}

// The values of `size` bits that end the first `total` of kPairBits bits.
HWY_INLINE Long ValuesOf(Long words, Long total, Long size) {
  const Long one = All(1), range = one << size;
  const Long bits = hn::And(words >> hn::Sub(All(kPairBits), total), hn::Sub(range, one));
  const auto is_negative = hn::Lt(bits, hn::ShiftRight<1>(range));
  return hn::Add(bits, hn::IfThenElseZero(is_negative, hn::Sub(one, range)));
}

HWY_INLINE void MakePairs(const uint32_t* singles, const uint32_t* rests, uint32_t at,
                          uint64_t* pairs) {
  const Long words = hn::Iota(Longs(), at);
  const Symbols a(EntriesAt<kPairBits>(singles, at)), b(hn::Load(Longs(), rests + at));
  const Long used = hn::Min(a.total, All(kPairBits));
  const auto is_first = hn::And(a.is_known, IsAtMost(a.length, kPairBits));
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
  HWY_ALIGN uint32_t rests[1 << kPairBits];
  const auto used = [&](uint32_t at)
                        HWY_ATTR { return LowByte(EntriesAt<kPairBits>(singles, at)); };
  FindRests<kPairBits>(singles, used, rests);
  for (uint32_t at = 0; at < 1 << kPairBits; at += static_cast<uint32_t>(hn::Lanes(Longs())))
    MakePairs(singles, rests, at, pairs);
}

// One or two symbols of a word, packed into 32 bits. For one alone, both stand for it.
struct TwoSymbols {
  Long length, first_total, first_advance;  // of the first; the advance only where it does not end
  Long needed, total,
      advance;  // of both: the bits that tell them, those with all values, positions

  HWY_INLINE explicit TwoSymbols(Long v)
      : length(hn::And(v, All(15))),
        first_total(hn::And(hn::ShiftRight<4>(v), All(31))),
        first_advance(hn::And(hn::ShiftRight<9>(v), All(31))),
        needed(hn::And(hn::ShiftRight<14>(v), All(15))),
        total(Total(v)),
        advance(hn::ShiftRight<23>(v)) {}

  static HWY_INLINE Long Total(Long v) { return hn::And(hn::ShiftRight<18>(v), All(31)); }

  static HWY_INLINE Long Of(const Symbols& a, const Symbols& b) {
    const auto goes_on = hn::And(b.is_known, hn::Lt(a.advance, All(kBadCode)));
    const auto both = hn::And(goes_on, IsAtMost(hn::Add(a.total, b.length), kSkipBits));
    const auto with_b = [&](Long of_a, Long of_b)
                            HWY_ATTR { return hn::Add(of_a, hn::IfThenElseZero(both, of_b)); };
    const Long needed = hn::IfThenElse(both, hn::Add(a.total, b.length), a.length);
    const Long first =
        hn::Or3(a.length, hn::ShiftLeft<4>(a.total), hn::ShiftLeft<9>(hn::And(a.advance, All(31))));
    const Long all = hn::Or3(hn::ShiftLeft<14>(needed), hn::ShiftLeft<18>(with_b(a.total, b.total)),
                             hn::ShiftLeft<23>(with_b(a.advance, b.advance)));
    return hn::IfThenElseZero(a.is_known, hn::Or(first, all));
  }
};

// Puts the symbols of the rest behind those of the words. Returns entries of `skips`.
HWY_INLINE Long JoinedSkips(const TwoSymbols& ab, const TwoSymbols& cd) {
  // The last symbol may have ended the block, or its value may reach behind the word.
  const auto has_room =
      hn::And(hn::Lt(ab.advance, All(kBadCode)), hn::Lt(ab.total, All(kSkipBits)));
  const auto is_known = hn::And(hn::Ne(ab.needed, ab.length), hn::Ne(cd.length, hn::Zero(Longs())));
  const auto goes_on = hn::And(has_room, is_known);
  const auto one = hn::And(goes_on, IsAtMost(hn::Add(ab.total, cd.length), kSkipBits));
  const auto two = hn::And(goes_on, IsAtMost(hn::Add(ab.total, cd.needed), kSkipBits));
  const auto more = [&](Long of_both, Long of_first) HWY_ATTR {
    return hn::IfThenElse(two, of_both, hn::IfThenElseZero(one, of_first));
  };
  const Long total = hn::Add(ab.total, more(cd.total, cd.first_total));
  const Long advance = hn::Add(ab.advance, more(cd.advance, cd.first_advance));
  return hn::Or(total, hn::ShiftLeft<8>(advance));
}

void BuildSkips(const uint32_t* singles, uint16_t* skips) {
  constexpr uint32_t kWords = 1 << kSkipBits;
  const auto lanes = static_cast<uint32_t>(hn::Lanes(Longs()));
  HWY_ALIGN uint32_t rests[kWords], twos[kWords];
  FindRests<kSkipBits>(
      singles, [&](uint32_t at) HWY_ATTR { return LowByte(EntriesAt<kSkipBits>(singles, at)); },
      rests);
  for (uint32_t at = 0; at < kWords; at += lanes)
    hn::Store(TwoSymbols::Of(Symbols(EntriesAt<kSkipBits>(singles, at)),
                             Symbols(hn::Load(Longs(), rests + at))),
              Longs(), twos + at);
  FindRests<kSkipBits>(
      twos, [&](uint32_t at) HWY_ATTR { return TwoSymbols::Total(EntriesAt<kSkipBits>(twos, at)); },
      rests);
  const hn::Rebind<uint16_t, Longs> words16;
  for (uint32_t at = 0; at < kWords; at += lanes)
    hn::StoreU(hn::TruncateTo(words16, JoinedSkips(TwoSymbols(hn::Load(Longs(), twos + at)),
                                                   TwoSymbols(hn::Load(Longs(), rests + at)))),
               words16, skips + at);
}

}  // namespace HWY_NAMESPACE
}  // namespace stoker::jpeg
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker::jpeg {

void look_up(const uint32_t* table, const uint32_t* places, uint32_t n, uint32_t* out) {
  for (uint32_t i = 0; i < n; ++i) out[i] = table[places[i]];
}

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
