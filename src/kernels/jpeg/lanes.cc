// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/jpeg/lanes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

#include "kernels/jpeg/idct.h"
#include "kernels/jpeg/zigzag.h"

#include "kernels/simd.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/jpeg/lanes.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

// What all targets share.
#ifndef STOKER_JPEG_LANES_ONCE
#define STOKER_JPEG_LANES_ONCE
namespace stoker::jpeg {
constexpr int kFirstByte = 5;  // of a Pair: its first value
constexpr uint64_t kStart = ~uint64_t{0};  // the position before a DC coefficient
constexpr uint64_t kNoLimit = ~uint64_t{0} >> 1;
constexpr uint32_t kPhaseQuad = 256;  // what a phase has more, four MCUs further on
// Puts the entries that are 0, because the tables do not know the next bits.
void find_missing(const Lanes& lanes, const uint64_t* bits, const uint64_t* position,
                  const uint64_t* phase, uint64_t* entries);
}  // namespace stoker::jpeg
#endif

HWY_BEFORE_NAMESPACE();
namespace stoker::jpeg {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET <= HWY_AVX3
using Longs = hn::Full512<uint64_t>;
using Signed = hn::Full512<int64_t>;
using Bytes = hn::Full512<uint8_t>;
using Long = hn::Vec<Longs>;
using Mask = hn::Mask<Longs>;

alignas(64) constexpr std::array<uint16_t, 64> kPlaces = [] {
  std::array<uint16_t, 64> places{};
  for (size_t k = 0; k < 64; ++k)
    places[k] = static_cast<uint16_t>(kZigzag[k] / 8 * 8 * kBlocksInGroup + kZigzag[k] % 8);
  return places;
}();

HWY_INLINE Long All(uint64_t v) { return hn::Set(Longs(), v); }
HWY_INLINE Long FillBySign(Long v) {
  return hn::BitCast(Longs(), hn::ShiftRight<63>(hn::BitCast(Signed(), v)));
}
// Of positions: behind a block, but not by the symbol that ends it.
HWY_INLINE Mask IsBehind(Long position) { return hn::TestBit(position, All(64)); }
HWY_INLINE uint32_t BitsOf(Mask m) { return static_cast<uint32_t>(m.raw); }

// Loads the eight bytes of each lane's address. CPUs gather more slowly than this.
template <class T>
HWY_INLINE Long LoadLanes(const T* base, Long offsets) {
  HWY_ALIGN uint64_t at[kLanesOfVector];
  hn::Store(offsets, Longs(), at);
  const volatile uint64_t* read = at;  // not taken out of the vector again
  const auto two = [&](int lane) HWY_ATTR {
    uint64_t upper;
    std::memcpy(&upper, base + read[lane + 1], sizeof upper);
    const auto lower = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(base + read[lane]));
    return _mm_insert_epi64(lower, static_cast<long long>(upper), 1);
  };
  const auto a = two(0), b = two(2), c = two(4), d = two(6);
  const auto ab = _mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1);
  const auto cd = _mm256_inserti128_si256(_mm256_castsi128_si256(c), d, 1);
  return Long{_mm512_inserti64x4(_mm512_castsi256_si512(ab), cd, 1)};
}

HWY_INLINE Long SwapBytes(Long v) {
  alignas(16) static constexpr uint8_t kOrder[16] = {7,  6,  5,  4,  3,  2,  1, 0,
                                                     15, 14, 13, 12, 11, 10, 9, 8};
  return hn::BitCast(
      Longs(), hn::TableLookupBytes(hn::BitCast(Bytes(), v), hn::LoadDup128(Bytes(), kOrder)));
}

// An entry of each lane's phase. That of phase 0 is 0, and so are the upper bits.
HWY_INLINE Long OfPhase(const uint16_t* table, Long phase) {
  return Long{_mm512_permutexvar_epi16(phase.raw, _mm512_loadu_si512(table))};
}
HWY_INLINE Long OfPhase(const uint32_t* table, Long phase) {
  return Long{_mm512_permutex2var_epi32(_mm512_loadu_si512(table), phase.raw,
                                        _mm512_loadu_si512(table + 16))};
}
// Where the coefficients of positions lie; of those behind a block, the last.
HWY_INLINE Long PlacesOf(Long position) {
  const Long p = hn::Min(position, All(63));
  return Long{_mm512_permutex2var_epi16(_mm512_loadu_si512(kPlaces.data()), p.raw,
                                        _mm512_loadu_si512(kPlaces.data() + 32))};
}

// A byte of an entry, as a number. What the bytes are, Pair says.
template <int kByte>
HWY_INLINE Long ByteOf(Long entry) {
  alignas(16) static constexpr uint8_t kOrder[16] = {kByte,     255, 255, 255, 255, 255, 255, 255,
                                                     kByte + 8, 255, 255, 255, 255, 255, 255, 255};
  return hn::BitCast(Longs(), hn::TableLookupBytesOr0(hn::BitCast(Bytes(), entry),
                                                      hn::LoadDup128(Bytes(), kOrder)));
}

// What a step found, to be stored while the next one loads.
struct Found {
  HWY_ALIGN uint64_t entries[kLanesOfVector];
  HWY_ALIGN uint64_t values[kLanesOfVector];
  HWY_ALIGN uint64_t first_at[kLanesOfVector];
  HWY_ALIGN uint64_t second_at[kLanesOfVector];
};
// Read as volatile, so that it is not taken out of vectors, one by one.
HWY_INLINE void StoreFound(const Found& found, int16_t* to) {
  const volatile int8_t* firsts = reinterpret_cast<const int8_t*>(found.entries) + kFirstByte;
  const volatile int16_t* seconds = reinterpret_cast<const int16_t*>(found.values);
  const volatile uint64_t *first_at = found.first_at, *second_at = found.second_at;
  for (int lane = 0; lane < kLanesOfVector; ++lane) {
    to[first_at[lane]] = firsts[8 * lane];
    to[second_at[lane]] = seconds[4 * lane];
  }
}

struct Symbols {
  Long first, second;  // positions
  Long value, used;
};

// Not members, so that what they do not get stays in registers.
HWY_NOINLINE Long FindMissing(const Lanes& lanes, Long entry, Long bits, Long position,
                              Long phase) {
  HWY_ALIGN uint64_t of_lane[4][kLanesOfVector];
  hn::Store(entry, Longs(), of_lane[0]), hn::Store(bits, Longs(), of_lane[1]);
  hn::Store(position, Longs(), of_lane[2]), hn::Store(phase, Longs(), of_lane[3]);
  find_missing(lanes, of_lane[1], of_lane[2], of_lane[3], of_lane[0]);
  return hn::Load(Longs(), of_lane[0]);
}
// Where a position is behind its block: the second symbol is of the next block, or the block is
// none. Returns the lanes of the latter.
HWY_NOINLINE uint32_t LookBehind(Long entry, Symbols& s) {
  const Mask is_behind = IsBehind(s.second);
  const Mask is_next = hn::And(is_behind, hn::Eq(s.first, All(63)));
  const auto value =
      hn::ShiftRight<56>(hn::BitCast(Signed(), hn::ShiftLeft<56 - 8 * kFirstByte>(entry)));
  s.used = hn::IfThenElse(is_next, ByteOf<6>(entry), s.used);
  s.second = hn::IfThenElse(is_next, s.first, s.second);
  s.value = hn::IfThenElse(is_next, hn::BitCast(Longs(), value), s.value);
  return BitsOf(hn::AndNot(is_next, is_behind));
}

class Run {
 public:
  // The lanes of one vector, from this one on.
  HWY_INLINE Run(Lanes& lanes, int first)
      : lanes_(lanes),
        first_(first),
        next_(Get(lanes.next)),
        bits_(Get(lanes.bits)),
        count_(Get(lanes.count)),
        limit_(Get(lanes.limit)),
        position_(Get(lanes.position)),
        table_(Get(lanes.table)),
        phase_(Get(lanes.phase)),
        row_(Get(lanes.row)),
        to_(Get(lanes.to)),
        left_(Get(lanes.left)),
        rested_(hn::Eq(phase_, hn::Zero(Longs()))) {}
  HWY_INLINE void Keep() {
    Put(next_, lanes_.next), Put(bits_, lanes_.bits), Put(count_, lanes_.count);
    Put(position_, lanes_.position), Put(table_, lanes_.table), Put(phase_, lanes_.phase);
    Put(row_, lanes_.row), Put(to_, lanes_.to), Put(left_, lanes_.left), Put(limit_, lanes_.limit);
  }

  HWY_INLINE void Refill() {
    const Long more = SwapBytes(LoadLanes(lanes_.data, next_));
    bits_ = hn::Or(bits_, more >> count_);
    next_ = hn::Add(next_, hn::ShiftRight<3>(hn::Sub(All(63), count_)));
    count_ = hn::Or(count_, All(56));
  }

  HWY_INLINE void Step(Found& found) {
    // What follows if this step ends a block, and if not.
    const Mask not_last = hn::Ne(left_, All(1));
    const Long next_table = hn::IfThenElseZero(not_last, OfPhase(lanes_.next_dc_table, phase_));
    const Long next_phase =
        hn::IfThenElseZero(not_last, hn::Add(phase_, OfPhase(lanes_.phase_step, phase_)));
    const Long next_position = hn::IfThenElseZero(not_last, All(kStart));
    const Long ac_table = OfPhase(lanes_.ac_table, phase_);

    Long entry = LoadLanes(lanes_.entries, hn::Add(table_, hn::ShiftRight<64 - kPairBits>(bits_)));
    const Mask missing = hn::Eq(entry, hn::Zero(Longs()));
    if (HWY_UNLIKELY(!hn::AllFalse(Longs(), missing)))
      entry = FindMissing(lanes_, entry, bits_, position_, phase_);
    Symbols s{hn::Add(position_, ByteOf<4>(entry)), hn::Add(position_, hn::ShiftRight<56>(entry)),
              ValueOf(bits_ << ByteOf<1>(entry), ByteOf<2>(entry)), ByteOf<0>(entry)};
    uint32_t bad = 0;
    if (HWY_UNLIKELY(!hn::AllFalse(Longs(), IsBehind(s.second)))) {
      Symbols behind = s;
      bad = LookBehind(entry, behind);
      s = behind;
    }
    bits_ = bits_ << s.used;
    count_ = hn::Sub(count_, s.used);
    hn::Store(entry, Longs(), found.entries);
    hn::Store(s.value, Longs(), found.values);
    hn::Store(hn::Add(to_, PlacesOf(s.first)), Longs(), found.first_at);
    hn::Store(hn::Add(to_, PlacesOf(s.second)), Longs(), found.second_at);

    const Long ends = FillBySign(hn::Sub(All(62), s.second));
    left_ = hn::Add(left_, ends);
    table_ = hn::IfVecThenElse(ends, next_table, ac_table);
    phase_ = hn::IfVecThenElse(ends, next_phase, phase_);
    position_ = hn::IfVecThenElse(ends, next_position, s.second);
    if (HWY_UNLIKELY(bad != 0)) Rest(Mask{static_cast<decltype(Mask::raw)>(bad)});
    row_ = hn::IfThenElseZero(hn::Ne(phase_, hn::Zero(Longs())), row_);
    const Long groups = hn::And(phase_, All(~uint64_t{kPhaseQuad - 1}))
                        << OfPhase(lanes_.group_shift, phase_);
    to_ = hn::Add(row_, hn::Add(OfPhase(lanes_.place, phase_), groups));
  }

  // Whether a lane came to rest.
  HWY_INLINE bool Stops() {
    const Mask behind = hn::Gt(next_, limit_);
    if (HWY_UNLIKELY(!hn::AllFalse(Longs(), behind))) Rest(behind);
    return !hn::AllTrue(Longs(), hn::Or(hn::Ne(phase_, hn::Zero(Longs())), rested_));
  }
  HWY_INLINE uint32_t AtRest() const { return BitsOf(hn::Eq(phase_, hn::Zero(Longs()))) << first_; }

 private:
  HWY_INLINE Long Get(const uint64_t* from) const { return hn::Load(Longs(), from + first_); }
  HWY_INLINE void Put(Long v, uint64_t* to) const { hn::Store(v, Longs(), to + first_); }

  static HWY_INLINE Long ValueOf(Long bits, Long shift) {
    const Long sign = hn::AndNot(bits, All(uint64_t{1} << 63));
    const auto value = hn::BitCast(Signed(), hn::Or(hn::ShiftRight<1>(bits), sign)) >>
                       hn::BitCast(Signed(), shift);
    return hn::Add(hn::BitCast(Longs(), value), hn::ShiftRight<63>(sign));
  }

  HWY_INLINE void Rest(Mask bad) {
    lanes_.bad |= BitsOf(bad) << first_;
    position_ = hn::IfThenZeroElse(bad, position_);
    table_ = hn::IfThenZeroElse(bad, table_);
    phase_ = hn::IfThenZeroElse(bad, phase_);
    row_ = hn::IfThenZeroElse(bad, row_);
    to_ = hn::IfThenZeroElse(bad, to_);
    left_ = hn::IfThenZeroElse(bad, left_);
    limit_ = hn::IfThenElse(bad, All(kNoLimit), limit_);
  }

  Lanes& lanes_;
  const int first_;
  Long next_, bits_, count_, limit_, position_, table_, phase_, row_, to_, left_;
  Mask rested_;  // from the beginning
};

// Runs the lanes of one vector.
HWY_NOINLINE uint32_t RunOne(Lanes& lanes, int first) {
  Run run(lanes, first);
  Found found[2];
  run.Refill();
  run.Step(found[0]);
  run.Step(found[1]);
  StoreFound(found[0], lanes.coefficients);
  while (!run.Stops()) {
    run.Refill();
    run.Step(found[0]);
    StoreFound(found[1], lanes.coefficients);
    run.Step(found[1]);
    StoreFound(found[0], lanes.coefficients);
  }
  StoreFound(found[1], lanes.coefficients);
  run.Keep();
  return run.AtRest();
}

// Runs all lanes. While one vector waits for its loads, the other goes on.
HWY_NOINLINE uint32_t RunBoth(Lanes& lanes) {
  Run a(lanes, 0), b(lanes, kLanesOfVector);
  Found of_a[2], of_b[2];
  int16_t* const to = lanes.coefficients;
  a.Refill(), b.Refill();
  a.Step(of_a[0]), b.Step(of_b[0]);
  a.Step(of_a[1]), StoreFound(of_a[0], to);
  b.Step(of_b[1]), StoreFound(of_b[0], to);
  for (;;) {
    const bool a_stops = a.Stops(), b_stops = b.Stops();
    if (HWY_UNLIKELY(a_stops || b_stops)) break;
    a.Refill(), b.Refill();
    a.Step(of_a[0]), StoreFound(of_a[1], to);
    b.Step(of_b[0]), StoreFound(of_b[1], to);
    a.Step(of_a[1]), StoreFound(of_a[0], to);
    b.Step(of_b[1]), StoreFound(of_b[0], to);
  }
  StoreFound(of_a[1], to), StoreFound(of_b[1], to);
  a.Keep(), b.Keep();
  return a.AtRest() | b.AtRest();
}

uint32_t RunLanes(Lanes& lanes) {
  const uint32_t lower = lanes.running & ((1u << kLanesOfVector) - 1),
                 upper = lanes.running ^ lower;
  const uint32_t at_rest =
      lower && upper ? RunBoth(lanes) : RunOne(lanes, lower ? 0 : kLanesOfVector);
  const uint32_t stopped = lanes.running & at_rest;
  lanes.running &= ~stopped;
  return stopped;
}
bool HasLanes() { return true; }
#else
uint32_t RunLanes(Lanes&) { return 0; }
bool HasLanes() { return false; }
#endif

}  // namespace HWY_NAMESPACE
}  // namespace stoker::jpeg
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace stoker::jpeg {

HWY_EXPORT(RunLanes);
HWY_EXPORT(HasLanes);

namespace {

// What ends a block advances by one more here, so that one bit tells whether a position is behind
// its block.
uint64_t ac_entry(uint64_t pair) {
  return pair + (uint64_t{Pair{pair}.advance() >= kEndOfBlock} << 56) +
         (uint64_t{Pair{pair}.first_advance() >= kEndOfBlock} << 32);
}
// A DC symbol advances from before the block.
uint64_t dc_entry(Single s) {
  return Pair::of(Single::of(s.length(), s.size(), s.advance() + 1)).bits;
}

template <class Table, class Fill>
uint16_t find_or_add(const Table* table, std::array<const void*, Lanes::kTables>& known,
                     Fill fill) {
  size_t at = 1;
  while (known[at] && known[at] != table) ++at;
  const auto offset = static_cast<uint16_t>(at << kPairBits);
  if (!known[at]) known[at] = table, fill(offset);
  return offset;
}

void add_tables(const McuBlock& block, std::array<const void*, Lanes::kTables>& known, Lanes& lanes,
                uint16_t& dc, uint16_t& ac) {
  dc = find_or_add(block.dc, known, [&](uint16_t offset) {
    for (size_t i = 0; i < 1 << kPairBits; ++i) {
      const Single s{block.dc->singles[i << (kSingleBits - kPairBits)]};
      lanes.entries[offset + i] = s.bits && s.length() <= kPairBits ? dc_entry(s) : 0;
    }
  });
  ac = find_or_add(block.ac, known, [&](uint16_t offset) {
    for (size_t i = 0; i < 1 << kPairBits; ++i)
      lanes.entries[offset + i] = ac_entry(block.ac->pairs[i]);
  });
}

// Where a block of MCU x lies.
int64_t offset_of(const McuBlock& block, int64_t x, const int16_t* coefficients) {
  const int64_t at = x * block.across + block.first;
  return block.row - coefficients + at / kBlocksInGroup * kGroupSize + at % kBlocksInGroup * 8;
}

}  // namespace

void find_missing(const Lanes& lanes, const uint64_t* bits, const uint64_t* position,
                  const uint64_t* phase, uint64_t* entries) {
  for (int l = 0; l < kLanesOfVector; ++l) {
    if (entries[l] != 0) continue;
    const uint64_t p = phase[l] % Lanes::kPhases;
    if (position[l] == kStart) {
      const DcTable& table = *lanes.dc[p];
      Single s{table.singles[bits[l] >> (64 - kSingleBits)]};
      entries[l] = dc_entry(s.bits ? s : find_symbol(table, bits[l]));
    } else {
      const AcTable& table = *lanes.ac[p];
      Single s{table.singles[bits[l] >> (64 - kSingleBits)]};
      entries[l] = ac_entry(Pair::of(s.bits ? s : find_symbol(table, bits[l])).bits);
    }
  }
}

bool can_use_lanes(const Mcu& mcu) {
  const auto fits = [](const McuBlock& b) {
    return b.row && std::has_single_bit(static_cast<uint64_t>(b.across));
  };
  return mcu.count <= kMostBlocksInLanes && HWY_DYNAMIC_DISPATCH(HasLanes)() &&
         std::all_of(mcu.blocks, mcu.blocks + mcu.count, fits);
}

void make_lanes(const Mcu& mcu, int16_t* coefficients, const uint8_t* data, Lanes& lanes) {
  const auto blocks = static_cast<size_t>(mcu.count);
  const size_t phases = kBlocksInGroup * blocks;
  std::memset(&lanes, 0, offsetof(Lanes, entries));
  std::fill_n(lanes.limit, kLanes, kNoLimit);
  lanes.blocks = blocks;
  lanes.data = data;
  lanes.coefficients = coefficients;
  std::fill_n(lanes.entries, 1 << kPairBits, Pair::of(Single::of(0, 0, 0)).bits);
  std::array<const void*, Lanes::kTables> known = {};
  uint16_t dc[kMostBlocksInLanes], ac[kMostBlocksInLanes];
  for (size_t b = 0; b < blocks; ++b) add_tables(mcu.blocks[b], known, lanes, dc[b], ac[b]);
  for (size_t i = 0; i < phases; ++i) {
    const size_t b = i % blocks;
    const McuBlock& block = mcu.blocks[b];
    lanes.dc[i + 1] = block.dc;
    lanes.ac[i + 1] = block.ac;
    lanes.ac_table[i + 1] = ac[b];
    lanes.next_dc_table[i + 1] = dc[(b + 1) % blocks];
    lanes.phase_step[i + 1] = static_cast<uint16_t>(i + 1 < phases ? 1 : kPhaseQuad - phases + 1);
    lanes.place[i + 1] =
        static_cast<uint32_t>(offset_of(block, static_cast<int64_t>(i / blocks), coefficients));
    lanes.group_shift[i + 1] =
        static_cast<uint16_t>(std::countr_zero(static_cast<uint64_t>(block.across)));
  }
}

void start_lane(int lane, const BitReader& reader, const uint8_t* limit, int64_t begin, int64_t end,
                int64_t offset, Lanes& lanes) {
  const uint32_t bit = uint32_t{1} << lane;
  const uint64_t quads = static_cast<uint64_t>(begin / kBlocksInGroup) * kPhaseQuad;
  lanes.next[lane] = static_cast<uint64_t>(reader.next - lanes.data);
  lanes.bits[lane] = reader.bits;
  lanes.count[lane] = reader.count;
  lanes.limit[lane] = static_cast<uint64_t>(limit - lanes.data);
  lanes.position[lane] = kStart;
  lanes.table[lane] = lanes.next_dc_table[kBlocksInGroup * lanes.blocks];  // of the first block
  lanes.phase[lane] = quads + 1;
  lanes.to[lane] = static_cast<uint64_t>(offset) + lanes.place[1] + (quads << lanes.group_shift[1]);
  lanes.row[lane] = static_cast<uint64_t>(offset);
  lanes.left[lane] = static_cast<uint64_t>(end - begin) * lanes.blocks;
  lanes.running |= bit;
  lanes.bad &= ~bit;
}

uint32_t run_lanes(Lanes& lanes) { return HWY_DYNAMIC_DISPATCH(RunLanes)(lanes); }

void add_differences(const Mcu& mcu, int64_t begin, int64_t end) {
  for (int64_t x = begin; x < end; ++x)
    for (int b = 0; b < mcu.count; ++b) {
      const McuBlock& block = mcu.blocks[b];
      int16_t& at = block.row[offset_of(block, x, block.row)];
      *block.predictor += at;
      at = static_cast<int16_t>(*block.predictor);
    }
}

}  // namespace stoker::jpeg
#endif
