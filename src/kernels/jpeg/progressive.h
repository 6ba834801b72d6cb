// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Coefficients out of the scans of a progressive file, each of which tells a few bits of some.
//
// Note [Bands]
// A scan of AC coefficients tells of a band: positions `first` to `last` in zigzag order, of one
// component. The first scan of a band leaves out the lower `shift` bits, and each scan that refines
// it adds one. Such a scan has, for each block in turn: where coefficients begin to be other than
// zero, with their signs; and between these, one bit for each coefficient that was other than zero
// before. A symbol that ends a block may end some thousands after it, which is kept in `run`; a
// scan that refines still has the bits of what was other than zero in them.
//
// Note [Blocks in reverse]
// Position k of a block lies at 63 - k of its 64 values. So in a mask with a bit for each value,
// the highest bit is the first one that a scan tells of, as in the scan's own bits, and the bits of
// many coefficients are put into their places at once. DC coefficients lie elsewhere, and what is
// in their place here means nothing.
#pragma once
#include <cstdint>

#include "kernels/jpeg/entropy.h"

namespace stoker::jpeg {

struct Band {
  const BandTable* table;
  int first, last;  // positions, from 1 to 63
  int shift;  // 0 to 13
  int32_t* run;  // that many blocks, beginning with the next one, have no symbols of their own
  int16_t* row;  // blocks: Note [Blocks in reverse]; all zero before the first scan of any band
};

// Reads blocks [begin, end) of a row, as read_mcus() reads MCUs, and with the same bounds.
McusRead read_band(const Band& band, int64_t begin, int64_t end, const uint8_t* limit,
                   BitReader& reader);

// The same for DC coefficients, which lie in the rows of the MCU's blocks one behind the other.
// AC tables are not looked at, and to refine needs no tables at all.
McusRead read_dc(const Mcu& mcu, int shift, int64_t begin, int64_t end, const uint8_t* limit,
                 BitReader& reader);
McusRead refine_dc(const Mcu& mcu, int shift, int64_t begin, int64_t end, const uint8_t* limit,
                   BitReader& reader);

// Copies blocks with their DC coefficients into groups (Note [Groups of blocks] of idct.h).
// Requires: they fill whole groups, and all but `dc` is aligned to 64 bytes.
void make_groups(const int16_t* blocks, const int16_t* dc, int64_t count, int16_t* groups);

}  // namespace stoker::jpeg
