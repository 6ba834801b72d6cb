// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <any>
#include <utility>

#include "base/error.h"

namespace stoker {

// What an operator learned of a sample in infer() and needs for the work, such as the header of a
// picture: one value of its own type. It is gone when the next sample begins. All frames of a
// sequence share it.
class Kept {
 public:
  template <class T>
  const T& set(T value) {
    return value_.emplace<T>(std::move(value));
  }
  // Requires: infer() kept a T.
  template <class T>
  const T& get() const {
    const T* value = std::any_cast<T>(&value_);
    if (!value) throw Error("the operator reads what its infer() did not keep");
    return *value;
  }
  void clear() { value_.reset(); }

 private:
  std::any value_;
};

}  // namespace stoker
