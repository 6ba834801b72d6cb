// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/fused/mover.h"

#include <algorithm>
#include <cstring>

#include "kernels/rows/rows.h"
#include "kernels/rows/transpose.h"

namespace stoker {
namespace {

constexpr int64_t kLargestPixel = 32;  // bytes; larger units are worth a memcpy
constexpr int64_t kNear = 16;  // bytes; units as near as this are gathered, not transposed
constexpr int64_t kShortRow = 16;  // units; a shorter row is made together with the axis before it
constexpr int64_t kPiece = 1024;  // units

bool is_even(const MoveAxis& m) {
  for (int64_t i = 2; i < m.extent; ++i)
    if (m.table[i] - m.table[i - 1] != m.table[1] - m.table[0]) return false;
  return true;
}

bool is_vector_size(int64_t unit) { return unit == 1 || unit == 2 || unit == 4; }
bool is_few(int64_t channels) { return channels >= 2 && channels <= 4; }

}  // namespace

Mover::Mover(int64_t size, std::span<const MoveAxis> axes, Arena& arena) : unit_(size) {
  for (const MoveAxis& a : axes) add(a);
  if (is_empty_) return;
  merge();
  choose(arena);
}

void Mover::add(MoveAxis m) {
  if (m.extent == 0) is_empty_ = true;
  if (is_empty_) return;
  if (m.table && is_even(m)) {
    from_ += m.source(0);
    m.from *= m.extent > 1 ? m.table[1] - m.table[0] : 0;
    m.table = nullptr;
  }
  if (m.extent == 1) return;
  if (m.to < 0 && !m.table) {  // the last shall be first
    from_ += m.source(m.extent - 1);
    to_ += m.to * (m.extent - 1);
    m.from = -m.from, m.to = -m.to;
  }
  int i = count_++;
  for (; i > 0 && std::abs(axis_[i - 1].to) < std::abs(m.to); --i) axis_[i] = axis_[i - 1];
  axis_[i] = m;
}

void Mover::merge() {
  int kept = 0;
  for (int i = 0; i < count_; ++i) {
    const MoveAxis m = axis_[i];
    MoveAxis* before = kept ? &axis_[kept - 1] : nullptr;
    if (before && !before->table && !m.table && before->to == m.to * m.extent &&
        before->from == m.from * m.extent)
      *before = {before->extent * m.extent, m.to, m.from, nullptr};
    else axis_[kept++] = m;
  }
  count_ = kept;
  if (count_ == 0) return;
  const MoveAxis& inner = axis_[count_ - 1];
  if (inner.table || inner.to != unit_ || inner.from != unit_) return;
  unit_ *= inner.extent;
  --count_;
}

void Mover::choose(Arena& arena) {
  row_ = {1, unit_, unit_, nullptr};
  if (count_ > 0) row_ = axis_[--count_];
  if (row_.to != unit_) return;
  whole_ = row_.extent * unit_;
  if (!row_.table && row_.from == 0) {
    way_ = Way::kRepeat;
    return;
  }
  if (unit_ > kLargestPixel) return;
  if (row_.table) return choose_gather(arena);
  if (choose_pair()) return;
  const bool has_neighbours = std::abs(row_.from) + unit_ <= rows::shuffle_bytes();
  if (row_.extent <= kShortRow) choose_gather(arena);
  else if (row_.from == -unit_ && (is_vector_size(unit_) || unit_ == 8)) way_ = Way::kReverse;
  else if (has_neighbours) choose_gather(arena);
}

// Chooses a way that makes rows of two axes, if one suits.
bool Mover::choose_pair() {
  int near = count_ - 1;  // an axis along which the input's units are neighbours
  while (near >= 0 && (axis_[near].table || std::abs(axis_[near].from) != unit_)) --near;
  if (near < 0) return false;
  const MoveAxis& m = axis_[near];
  if (is_vector_size(unit_) && m.from == unit_ && m.to == whole_ && is_few(row_.extent)) {
    way_ = Way::kJoin;
    whole_ *= m.extent;
  } else if (is_vector_size(unit_) && m.from == unit_ && row_.from == m.extent * unit_ &&
             is_few(m.extent)) {
    way_ = Way::kSplit;
    whole_ = 0;
  } else if (std::abs(row_.from) + unit_ > kNear) {
    way_ = Way::kTranspose;
    whole_ = 0;
  } else {
    return false;
  }
  take_other(near);
  return true;
}

void Mover::take_other(int axis) {
  other_ = axis_[axis];
  std::copy(axis_ + axis + 1, axis_ + count_, axis_ + axis);
  --count_;
}

void Mover::choose_gather(Arena& arena) {
  way_ = Way::kGather;
  if (row_.extent <= kShortRow && count_ > 0 && axis_[count_ - 1].to == whole_)
    take_other(count_ - 1);
  whole_ *= other_.extent;
  MoveAxis& outer = other_.extent > 1 ? other_ : row_;
  const int64_t inner = other_.extent > 1 ? row_.extent : 1;
  const int64_t most = outer.table ? outer.extent : std::min(outer.extent, kPiece / inner);
  auto* from = arena.array<int64_t>(static_cast<size_t>(most * inner));
  for (int64_t i = 0; i < most; ++i)
    for (int64_t k = 0; k < inner; ++k)
      from[i * inner + k] = outer.source(i) + (inner > 1 ? row_.source(k) : 0);
  const auto size = static_cast<int>(unit_);
  pieces_ = outer.extent / most;
  piece_ = rows::picks_of(size, from, most * inner, arena);
  const int64_t rest = outer.extent % most;
  if (rest) last_ = rows::picks_of(size, from, rest * inner, arena);
  // From now on a step along `other_` is a piece.
  other_ = {pieces_, most * inner * unit_, outer.from * most, nullptr};
}

void Mover::run(const std::byte* from, std::byte* to) const {
  if (!is_empty_) walk(0, from + from_, to + to_);
}

void Mover::walk(int axis, const std::byte* from, std::byte* to) const {
  if (axis == count_) return make_row(from, to);
  const MoveAxis& m = axis_[axis];
  const bool copies = axis + 1 == count_ && whole_;
  int64_t before = 0;
  for (int64_t i = 0; i < m.extent; ++i) {
    const int64_t source = m.source(i);
    std::byte* row = to + i * m.to;
    if (copies && i > 0 && source == before)
      std::memcpy(row, row - m.to, static_cast<size_t>(whole_));
    else walk(axis + 1, from + source, row);
    before = source;
  }
}

void Mover::make_row(const std::byte* from, std::byte* to) const {
  const auto size = static_cast<int>(unit_);
  switch (way_) {
    case Way::kCopy: return copy(from, to);
    case Way::kRepeat: return rows::repeat(from, unit_, to, row_.extent);
    case Way::kJoin:
      return rows::join(from, row_.from, size, static_cast<int>(row_.extent), to, other_.extent);
    case Way::kSplit:
      return rows::split(from, size, static_cast<int>(other_.extent), to, other_.to, row_.extent);
    case Way::kTranspose: return transpose(from, to);
    case Way::kReverse:
      return rows::reverse(from + row_.from * (row_.extent - 1), to, size, row_.extent);
    case Way::kGather: return gather(from, to);
  }
}

void Mover::copy(const std::byte* from, std::byte* to) const {
  if (!row_.table) return rows::copy(from, row_.from, to, row_.to, unit_, row_.extent);
  for (int64_t i = 0; i < row_.extent; ++i)
    std::memcpy(to + i * row_.to, from + row_.source(i), static_cast<size_t>(unit_));
}

void Mover::transpose(const std::byte* from, std::byte* to) const {
  const auto size = static_cast<int>(unit_);
  if (other_.from > 0)
    return rows::transpose(from, row_.from, to, other_.to, size, other_.extent, row_.extent);
  const int64_t last = other_.extent - 1;
  rows::transpose(from + last * other_.from, row_.from, to + last * other_.to, -other_.to, size,
                  other_.extent, row_.extent);
}

void Mover::gather(const std::byte* from, std::byte* to) const {
  for (int64_t i = 0; i < pieces_; ++i)
    rows::gather(piece_, from + i * other_.from, to + i * other_.to);
  if (last_.count) rows::gather(last_, from + pieces_ * other_.from, to + pieces_ * other_.to);
}

}  // namespace stoker
