// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A vector that holds up to N elements in itself. More of them are on the heap, where copies share
// them until one changes. Copies may be on different threads.
#pragma once
#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <vector>

namespace stoker {

// For arguments such as mean, std or fill values. They are copied for every sample, so neither the
// usual few elements nor a long constant list must cost an allocation.
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
    if (size_ == N) heap_ = std::make_shared<std::vector<T>>(inline_, inline_ + N);
    own().push_back(v);
    ++size_;
  }
  void clear() {
    size_ = 0;
    heap_.reset();
  }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T* data() const { return size_ <= N ? inline_ : heap_->data(); }
  T* data() { return size_ <= N ? inline_ : own().data(); }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  const T& operator[](size_t i) const { return data()[i]; }
  T& operator[](size_t i) { return data()[i]; }
  // For arguments with a value per channel: a single value serves all channels.
  const T& at_or_only(size_t i) const { return data()[size_ == 1 ? 0 : i]; }
  bool operator==(const Small& o) const { return std::equal(begin(), end(), o.begin(), o.end()); }

 private:
  std::vector<T>& own() {
    if (heap_.use_count() > 1) heap_ = std::make_shared<std::vector<T>>(*heap_);
    return *heap_;
  }

  size_t size_ = 0;
  T inline_[N] = {};
  std::shared_ptr<std::vector<T>> heap_;  // of more than N elements
};

}  // namespace stoker
