// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A short vector that holds up to N elements in itself and more of them on the heap. Not
// thread-safe.
#pragma once
#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <vector>

namespace stoker {

// For arguments such as mean, std or fill values. They are copied for every sample, so the usual
// few elements must not cost an allocation.
template <class T, size_t N = 4>
class Small {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;

  Small() = default;
  Small(std::initializer_list<T> values) { assign(values.begin(), values.end()); }
  template <class It>
  void assign(It first, It last) {
    clear();
    for (; first != last; ++first) push_back(*first);
  }
  void push_back(T v) {
    if (size_ < N) {
      inline_[size_++] = v;
      return;
    }
    if (size_ == N) heap_.assign(inline_, inline_ + N);
    heap_.push_back(v);
    ++size_;
  }
  void clear() {
    size_ = 0;
    heap_.clear();
  }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T* data() const { return size_ <= N ? inline_ : heap_.data(); }
  T* data() { return size_ <= N ? inline_ : heap_.data(); }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  const T& operator[](size_t i) const { return data()[i]; }
  T& operator[](size_t i) { return data()[i]; }
  // For arguments with a value per channel: a single value serves all channels.
  const T& at_or_only(size_t i) const { return data()[size_ == 1 ? 0 : i]; }
  bool operator==(const Small& o) const { return std::equal(begin(), end(), o.begin(), o.end()); }

 private:
  size_t size_ = 0;
  T inline_[N] = {};
  std::vector<T> heap_;
};

}  // namespace stoker
