// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Objects in maps of labels: what is connected along the axes and has one label. Pure functions;
// thread-safe.
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

// The bounding boxes of objects.
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

// Those of all objects with labels that `wanted` accepts, by their first elements. They lie in
// `scratch`. Requires: the map is dense.
template <class T, class Wanted>
ObjectBoxes object_boxes(const T* map, const Shape& shape, const Wanted& wanted, Arena& scratch) {
  // Runs along the last axis are joined where runs of the rows before them, along any other axis,
  // touch them and have their label.
  struct Run {
    int64_t begin, end, parent;
  };
  const int rank = shape.rank, last = rank - 1;
  const int64_t width = shape[last], rows = width ? shape.volume() / width : 0;
  auto* first = scratch.array<int64_t>(static_cast<size_t>(rows) + 1);  // run of each row
  first[0] = 0;
  for (int64_t row = 0; row < rows; ++row) {
    const T* from = map + row * width;
    int64_t begun = 0;
    at_cpu_level([=, &begun] {
      int64_t count = wanted(from[0]);
      for (int64_t x = 1; x < width; ++x) count += wanted(from[x]) & (from[x] != from[x - 1]);
      begun = count;
    });
    first[row + 1] = first[row] + begun;
  }
  const int64_t count = first[rows];
  auto* runs = scratch.array<Run>(static_cast<size_t>(count));

  const auto root = [&](int64_t k) {
    while (runs[k].parent != k) k = runs[k].parent = runs[runs[k].parent].parent;
    return k;
  };
  const auto join = [&](int64_t row, int64_t before) {
    int64_t a = first[before], b = first[row];
    const int64_t a_end = first[before + 1], b_end = first[row + 1];
    const T *labels_before = map + before * width, *labels = map + row * width;
    while (a < a_end && b < b_end) {
      const Run &up = runs[a], &here = runs[b];
      const bool touch = (up.begin < here.end) & (here.begin < up.end);
      if (touch && labels_before[up.begin] == labels[here.begin]) {
        const int64_t p = root(a), q = root(b);
        runs[std::max(p, q)].parent = std::min(p, q);
      }
      const bool up_ends = up.end < here.end;
      a += up_ends, b += !up_ends;
    }
  };
  for (int64_t row = 0; row < rows; ++row) {
    const T* from = map + row * width;
    int64_t k = first[row], x = 0;
    for (; k < first[row + 1]; ++k) {
      while (!wanted(from[x]) || (x > 0 && from[x] == from[x - 1])) ++x;
      const int64_t begin = x;
      do ++x;
      while (x < width && from[x] == from[begin]);
      runs[k] = {begin, x, k};
    }
    int64_t rest = row, step = 1;
    for (int a = last - 1; a >= 0; --a) {
      if (rest % shape[a] > 0) join(row, row - step);
      rest /= shape[a];
      step *= shape[a];
    }
  }

  ObjectBoxes boxes{rank};
  for (int64_t k = 0; k < count; ++k) boxes.count += runs[k].parent == k;
  auto* limits = scratch.array<int64_t>(static_cast<size_t>(2 * rank * boxes.count));
  auto* number = scratch.array<int64_t>(static_cast<size_t>(count));  // of a root's object
  int64_t made = 0;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t place[kMaxRank], rest = row;
    for (int a = last - 1; a >= 0; --a) place[a] = rest % shape[a], rest /= shape[a];
    for (int64_t k = first[row]; k < first[row + 1]; ++k) {
      const int64_t r = root(k);
      const bool is_new = r == k;
      if (is_new) number[k] = made++;
      int64_t *begin = limits + 2 * rank * number[r], *end = begin + rank;
      for (int a = 0; a < rank; ++a) {
        const int64_t from = a < last ? place[a] : runs[k].begin,
                      to = a < last ? place[a] + 1 : runs[k].end;
        begin[a] = is_new ? from : std::min(begin[a], from);
        end[a] = is_new ? to : std::max(end[a], to);
      }
    }
  }
  boxes.limits = limits;
  return boxes;
}

}  // namespace stoker
