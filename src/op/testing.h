// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// For tests: a Checker for one input, with some arguments computed by other nodes.
#pragma once
#include <memory>
#include <vector>

#include "op/context.h"

namespace stoker::test {

class OneInput {
 public:
  explicit OneInput(const TensorType& in, std::vector<const char*> computed = {})
      : types_{in}, names_(std::move(computed)), computed_(new bool[names_.size() + 1]) {
    std::fill_n(computed_.get(), names_.size() + 1, true);
  }
  Checker checker() const { return {types_, {computed_.get(), names_.size()}, names_, {}}; }

 private:
  std::vector<TensorType> types_;
  std::vector<const char*> names_;
  std::unique_ptr<bool[]> computed_;
};

}  // namespace stoker::test
