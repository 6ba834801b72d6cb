// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows of MCUs out of the bits of a baseline scan, many at once: each in one lane of a vector.
//
// Note [Lanes]
// Where the beginnings of rows are known, eight of them are read side by side, and no branch
// depends on what they hold. With a second vector of eight, one goes on while the other waits for
// its loads. A step looks up the next bits of each lane among pairs of symbols, as read_mcus()
// does. The difference of a DC coefficient is a symbol as well: it leads from the position before
// the block to position 0. A lane has a phase, which is the block in four MCUs where it is; four,
// because coefficients lie in groups of four blocks (Note [Groups of blocks] of idct.h). Tables by
// the phase say which codes a block has and where it lies. The number of such fours that are behind
// the lane is in the upper bits of its phase.
//
// A lane rests at phase 0: behind its last block, at bits that are no block, and behind its limit.
// Its symbols then take no bits, and it writes to the first block of all coefficients. Two steps
// take less than 8 bytes, then limits are compared, and a lane that rests loads what it holds once
// more: kLaneSlack readable bytes behind a limit suffice.
#pragma once
#include <cstdint>

#include "kernels/jpeg/entropy.h"

namespace stoker::jpeg {

inline constexpr int kLanesOfVector = 8, kLanes = 2 * kLanesOfVector, kMostBlocksInLanes = 6;
inline constexpr int64_t kMostMcusInLanes = 1024;  // of a row
inline constexpr int64_t kLaneSlack = 24;

struct Lanes {
  static constexpr int kPhases = 32, kTables = 1 + 2 * 4;

  // One of each lane. Offsets are those of `data` and `coefficients`.
  alignas(64) uint64_t next[kLanes], bits[kLanes], count[kLanes];  // as of BitReader
  uint64_t limit[kLanes];  // of `next`
  uint64_t position[kLanes], table[kLanes], phase[kLanes];
  uint64_t row[kLanes], to[kLanes];  // where the row and the block begin
  uint64_t left[kLanes];  // blocks to be read
  uint32_t running, bad;  // lanes as bits

  // By the phase. Tables are offsets of `entries`.
  alignas(64) uint16_t ac_table[kPhases];
  alignas(64) uint16_t next_dc_table[kPhases];
  alignas(64) uint16_t phase_step[kPhases];
  alignas(64) uint16_t group_shift[kPhases];
  alignas(64) uint32_t place[kPhases];  // of the block in a row
  const DcTable* dc[kPhases];
  const AcTable* ac[kPhases];

  uint64_t blocks;  // of an MCU
  const uint8_t* data;
  int16_t* coefficients;
  alignas(64) uint64_t entries[kTables << kPairBits];

  // The place of a lane that rests.
  BitReader reader(int lane) const { return {data + next[lane], bits[lane], count[lane]}; }
  // Whether its MCUs were read to their end, and are some.
  bool is_good(int lane) const { return (bad >> lane & 1) == 0; }
};

// Whether this CPU has lanes, and MCUs are such that they can read them.
bool can_use_lanes(const Mcu& mcu);

// Makes all lanes rest. A block of `mcu` says by its `row`, which is not null, where the first of
// several rows of MCUs has it. These lie in `coefficients`, behind a group that belongs to no row.
// `predictor` is not used. Requires: can_use_lanes(mcu); the tables outlive `lanes`; kLaneSlack
// bytes of `data` are readable.
void make_lanes(const Mcu& mcu, int16_t* coefficients, const uint8_t* data, Lanes& lanes);

// Makes a resting lane read MCUs [begin, end) to `offset` behind the places that `mcu` has; all is
// zero there. Requires: begin < end <= kMostMcusInLanes; begin fills groups, as its remainder by
// kBlocksInGroup is 0; reader.next lies in `data`; kLaneSlack bytes behind `limit` are readable.
void start_lane(int lane, const BitReader& reader, const uint8_t* limit, int64_t begin, int64_t end,
                int64_t offset, Lanes& lanes);

// Reads until at least one lane comes to rest. Returns which did, as bits. Instead of a DC
// coefficient there is its difference. A vector none of whose lanes is started takes no time.
// Requires: not all lanes rest.
uint32_t run_lanes(Lanes& lanes);

// Makes DC coefficients of their differences, in MCUs [begin, end) of a row. `predictor` and `row`
// of the blocks are those of the row.
void add_differences(const Mcu& mcu, int64_t begin, int64_t end);

}  // namespace stoker::jpeg
