// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Blocks of coefficients out of the bits of a baseline scan.
//
// Note [Bounds of bits]
// A block takes kMostBytesOfBlock bytes at most, whatever the bits are: 64 codes of 16 bits with
// values of 11, and no more than one symbol behind them. So a decoder with kMostBytesOfMcu readable
// bytes ahead cannot leave them within one MCU, and needs no other check. Zeros follow the data,
// and its owner looks afterwards whether any of them were used.
#pragma once
#include <cstdint>

#include "kernels/jpeg/huffman.h"

namespace stoker::jpeg {

inline constexpr int kMostBlocksOfMcu = 10;
inline constexpr int64_t kMostBytesOfBlock = 65 * (kLongestCode + kLargestDc) / 8 + 1;
// With what a reader loads ahead.
inline constexpr int64_t kMostBytesOfMcu = kMostBlocksOfMcu * kMostBytesOfBlock + 16;

// A place between two bits. The bits before `next` that were not used are at the top of `bits`.
struct BitReader {
  const uint8_t* next = nullptr;
  uint64_t bits = 0, count = 0;

  // How many bits are left before `end`; below 0 if bits behind it were used.
  int64_t left(const uint8_t* end) const { return 8 * (end - next) + static_cast<int64_t>(count); }
};
// The place `bit` bits behind the first one of `data`. Requires: bit < 8; 8 bytes are readable.
BitReader bits_at(const uint8_t* data, int bit);

// What a scan's MCUs consist of.
struct McuBlock {
  const DcTable* dc;
  const AcTable* ac;  // with skips, if the block is only passed over
  int32_t* predictor;  // the last DC coefficient of the component
  // Its row's groups (Note [Groups of blocks] of idct.h), all zero. Null: the block is passed over.
  int16_t* row;
  int64_t across, first;  // in MCU x of the row, it is block x * across + first
};
struct Mcu {
  int count = 0;
  McuBlock blocks[kMostBlocksOfMcu];
};

// Reads MCUs [begin, end) of a row. Stops before an MCU when reader.next is behind `limit`, and at
// bits that are no block of 8 bits. Requires: kMostBytesOfMcu bytes behind `limit` are readable.
struct McusRead {
  int64_t end;  // behind the last one that was read
  bool is_good;  // false at such bits
};
McusRead read_mcus(const Mcu& mcu, int64_t begin, int64_t end, const uint8_t* limit,
                   BitReader& reader);

}  // namespace stoker::jpeg
