// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Moves a box of values, without arithmetic: copies, mirrors, picks, repeats and transposes. A plan
// is made once and run any number of times, also at once.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/types.h"
#include "kernels/rows/gather.h"
#include "memory/arena.h"

namespace stoker {

// Position i of an axis is written at i * to and comes from i * from or, with a table, from
// table[i] * from. Strides are in bytes.
struct MoveAxis {
  int64_t extent = 1, to = 0, from = 0;
  const int64_t* table = nullptr;

  int64_t source(int64_t i) const { return (table ? table[i] : i) * from; }
};

// Note [Moves]
// Axes that can be joined on both sides become one, and values that stay together become one unit.
// The axis whose units are nearest to each other in the output is a row, made by the first way that
// suits it:
// - kCopy: units at any strides. All that follow write the row's units one behind the other.
// - kRepeat: one unit again and again.
// - kJoin: planes become pixels; the row has the axis before it, too.
// - kSplit: pixels become planes; the row has an axis of planes, too.
// - kTranspose: the row has the axis along which the input's units are neighbours, too.
// - kReverse: units backwards.
// - kGather: units from anywhere.
class Mover {
 public:
  // Requires: at most kMaxRank axes; the tables stay valid.
  Mover(int64_t size, std::span<const MoveAxis> axes, Arena& arena);
  // Requires: `from` and `to` do not overlap.
  void run(const std::byte* from, std::byte* to) const;

 private:
  enum class Way : uint8_t { kCopy, kRepeat, kJoin, kSplit, kTranspose, kReverse, kGather };

  void add(MoveAxis axis);
  void merge();
  void choose(Arena& arena);
  bool choose_pair();
  void choose_gather(Arena& arena);
  void take_other(int axis);
  void walk(int axis, const std::byte* from, std::byte* to) const;
  void make_row(const std::byte* from, std::byte* to) const;
  void copy(const std::byte* from, std::byte* to) const;
  void transpose(const std::byte* from, std::byte* to) const;
  void gather(const std::byte* from, std::byte* to) const;

  int64_t unit_;  // bytes
  bool is_empty_ = false;
  int64_t from_ = 0, to_ = 0;  // where the walk begins
  int count_ = 0;
  MoveAxis axis_[kMaxRank];  // around the rows, by falling strides in the output
  MoveAxis row_, other_;  // other_: the second axis of a row that has two
  Way way_ = Way::kCopy;
  int64_t whole_ = 0;  // bytes of a row in one piece, or 0
  rows::Picks piece_, last_;  // for kGather: a long row is made piece by piece
  int64_t pieces_ = 0;
};

}  // namespace stoker
