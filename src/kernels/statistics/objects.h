// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Objects in maps of labels: what is connected along the axes and has one label.
#pragma once
#include <algorithm>
#include <vector>

#include "kernels/convert.h"
#include "kernels/levels.h"
#include "memory/arena.h"

namespace stoker {

// The labels of a dense map, sorted, each once.
template <class T>
std::vector<int64_t> labels_of(const T* map, int64_t n) {
  std::vector<int64_t> found;
  const auto sort = [&] {
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
  };
  constexpr size_t kRecent = 1024;  // labels that were seen lately, by their last bits
  std::vector<int64_t> recent(kRecent, INT64_MIN);
  size_t limit = 4096;  // of what is kept unsorted
  for (int64_t k = 0; k < n; ++k) {
    const auto label = convert<int64_t>(map[k]);
    int64_t& like = recent[static_cast<size_t>(label) % kRecent];
    if (like == label) continue;
    like = label;
    found.push_back(label);
    if (found.size() < limit) continue;
    sort();
    limit = std::max(limit, 2 * found.size());
  }
  sort();
  return found;
}

struct ObjectBoxes {
  int rank = 0;
  int64_t count = 0;
  const int64_t* limits = nullptr;  // for each object where it begins along all axes, and ends

  Window operator[](int64_t k) const {
    Window w{Shape::filled(rank, 0), Shape::filled(rank, 0)};
    for (int a = 0; a < rank; ++a) {
      w.begin[a] = limits[2 * rank * k + a];
      w.end[a] = limits[2 * rank * k + rank + a];
    }
    return w;
  }
};

namespace detail {

// Runs of one label along the last axis of a dense map. Those of one label that touch along another
// axis are one object: they hang below its first run.
template <class T>
class LabelRuns {
 public:
  template <class Wanted>
  LabelRuns(const T* map, const Shape& shape, const Wanted& wanted, Arena& scratch)
      : map_(map), shape_(shape), width_(shape[last()]) {
    rows_ = width_ ? shape.volume() / width_ : 0;
    first_ = scratch.array<int64_t>(static_cast<size_t>(rows_) + 1);
    first_[0] = 0;
    for (int64_t row = 0; row < rows_; ++row) first_[row + 1] = first_[row] + count(row, wanted);
    runs_ = scratch.array<Run>(static_cast<size_t>(first_[rows_]));
    for (int64_t row = 0; row < rows_; ++row) {
      find(row, wanted);
      join_to_rows_before(row);
    }
  }

  ObjectBoxes boxes(Arena& scratch) {
    const int rank = shape_.rank;
    const int64_t count = first_[rows_];
    ObjectBoxes found{rank};
    for (int64_t k = 0; k < count; ++k) found.count += runs_[k].parent == k;
    auto* limits = scratch.array<int64_t>(static_cast<size_t>(2 * rank * found.count));
    auto* number = scratch.array<int64_t>(static_cast<size_t>(count));  // of a root's object
    int64_t made = 0;
    for (int64_t row = 0; row < rows_; ++row) {
      int64_t place[kMaxRank];
      find_place(row, place);
      for (int64_t k = first_[row]; k < first_[row + 1]; ++k) {
        const int64_t r = root(k);
        if (r == k) number[k] = made++;
        widen(limits + 2 * rank * number[r], r == k, place, runs_[k]);
      }
    }
    found.limits = limits;
    return found;
  }

 private:
  struct Run {
    int64_t begin, end, parent;
  };
  int last() const { return shape_.rank - 1; }

  template <class Wanted>
  int64_t count(int64_t row, const Wanted& wanted) const {
    const T* from = map_ + row * width_;
    const int64_t width = width_;
    int64_t begun = 0;
    at_cpu_level([=, &begun] {
      int64_t count = wanted(from[0]);
      for (int64_t x = 1; x < width; ++x) count += wanted(from[x]) & (from[x] != from[x - 1]);
      begun = count;
    });
    return begun;
  }

  template <class Wanted>
  void find(int64_t row, const Wanted& wanted) {
    const T* from = map_ + row * width_;
    int64_t x = 0;
    for (int64_t k = first_[row]; k < first_[row + 1]; ++k) {
      while (!wanted(from[x]) || (x > 0 && from[x] == from[x - 1])) ++x;
      const int64_t begin = x;
      do ++x;
      while (x < width_ && from[x] == from[begin]);
      runs_[k] = {begin, x, k};
    }
  }

  void join_to_rows_before(int64_t row) {
    int64_t rest = row, step = 1;
    for (int a = last() - 1; a >= 0; --a) {
      if (rest % shape_[a] > 0) join(row, row - step);
      rest /= shape_[a];
      step *= shape_[a];
    }
  }

  void join(int64_t row, int64_t before) {
    int64_t a = first_[before], b = first_[row];
    const int64_t a_end = first_[before + 1], b_end = first_[row + 1];
    const T *labels_before = map_ + before * width_, *labels = map_ + row * width_;
    while (a < a_end && b < b_end) {
      const Run &up = runs_[a], &here = runs_[b];
      const bool touch = (up.begin < here.end) & (here.begin < up.end);
      if (touch && labels_before[up.begin] == labels[here.begin]) {
        const int64_t p = root(a), q = root(b);
        runs_[std::max(p, q)].parent = std::min(p, q);
      }
      const bool up_ends = up.end < here.end;
      a += up_ends, b += !up_ends;
    }
  }

  int64_t root(int64_t k) {
    while (runs_[k].parent != k) k = runs_[k].parent = runs_[runs_[k].parent].parent;
    return k;
  }

  // Where the row lies along all axes but the last.
  void find_place(int64_t row, int64_t* place) const {
    for (int a = last() - 1; a >= 0; --a) place[a] = row % shape_[a], row /= shape_[a];
  }

  // Makes room for a run in its object's limits.
  void widen(int64_t* begin, bool is_new, const int64_t* place, const Run& run) const {
    int64_t* end = begin + shape_.rank;
    for (int a = 0; a < shape_.rank; ++a) {
      const int64_t from = a < last() ? place[a] : run.begin,
                    to = a < last() ? place[a] + 1 : run.end;
      begin[a] = is_new ? from : std::min(begin[a], from);
      end[a] = is_new ? to : std::max(end[a], to);
    }
  }

  const T* map_;
  Shape shape_;
  int64_t width_, rows_ = 0;
  int64_t* first_ = nullptr;  // run of each row
  Run* runs_ = nullptr;
};

}  // namespace detail

// The boxes of all objects with labels that `wanted` accepts, by their first elements, in
// `scratch`. Requires: the map is dense.
template <class T, class Wanted>
ObjectBoxes object_boxes(const T* map, const Shape& shape, const Wanted& wanted, Arena& scratch) {
  return detail::LabelRuns<T>(map, shape, wanted, scratch).boxes(scratch);
}

}  // namespace stoker
