// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows whose units are picked from anywhere in memory. A unit is a few neighbouring bytes: a value,
// or a pixel. All targets give the same bytes.
//
// Note [Shuffles]
// A shuffle loads a vector of 16 or 64 bytes, permutes and stores it: many units at once, if they
// come from near each other. Only the first of the stored bytes are right; the next shuffle
// overwrites the others. The row's last shuffles store no more than is right.
#pragma once
#include <cstddef>
#include <cstdint>

#include "memory/arena.h"

namespace stoker::rows {

// Byte offsets of what a shuffle loads and stores.
struct Shuffle {
  int64_t from, to;
};

// Where the units of a row come from. Valid only for the target that made it.
struct Picks {
  int size = 1;  // bytes of a unit
  int64_t count = 0;
  const int64_t* from = nullptr;  // the byte offset of each unit
  // The shuffles that make the row, `free` of which may store too much, with a vector each in
  // `order`. Null where most would move one unit only.
  const Shuffle* shuffle = nullptr;
  const uint8_t* order = nullptr;
  int64_t shuffles = 0, free = 0, bytes = 0;

  // How many bytes of a shuffle are right.
  int64_t bytes_of(int64_t i) const {
    return (i + 1 < shuffles ? shuffle[i + 1].to : count * size) - shuffle[i].to;
  }
};
// Requires: `from` stays valid, count > 0.
Picks picks_of(int size, const int64_t* from, int64_t count, Arena& arena);

int64_t shuffle_bytes();

// Whether AVX-512 VBMI is used, where the CPU has it. Returns the former setting.
bool set_vbmi_for_test(bool use);

// Writes the units, one behind the other. Reads between the first and the last of their bytes.
// Requires: `from` and `to` do not overlap.
void gather(const Picks& picks, const std::byte* from, std::byte* to);

// Writes a value of `size` bytes n times.
void repeat(const std::byte* value, int64_t size, std::byte* to, int64_t n);

}  // namespace stoker::rows
