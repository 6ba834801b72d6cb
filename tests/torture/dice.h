// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// All chance of the torture: equal seeds give equal throws with every compiler. A call has at most
// one throw among its arguments, as C++ does not say in which order they are computed.
#pragma once
#include <string>
#include <vector>

#include "base/hash.h"

namespace stoker::torture {

class Dice {
 public:
  explicit Dice(uint64_t seed) : seed_(seed) {}

  uint64_t bits() { return mix(seed_, throws_++); }
  // In [0, 1).
  double share() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  bool often(double probability) { return share() < probability; }
  // In [0, n). Requires: n > 0.
  int64_t below(int64_t n) { return static_cast<int64_t>(bits() % static_cast<uint64_t>(n)); }
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  // An element of a list that is not empty.
  template <class List>
  const auto& of(const List& list) {
    return *(std::begin(list) + below(static_cast<int64_t>(std::size(list))));
  }
  template <class T>
  T of(std::initializer_list<T> list) {
    return list.begin()[below(static_cast<int64_t>(list.size()))];
  }
  std::string of(std::initializer_list<const char*> list) {
    return list.begin()[below(static_cast<int64_t>(list.size()))];
  }
  // A seed for something of its own; fits into every language's int.
  int64_t seed() { return static_cast<int64_t>(bits() >> 2); }

 private:
  uint64_t seed_, throws_ = 0;
};

}  // namespace stoker::torture
