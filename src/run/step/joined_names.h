// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The names of what an operator makes of several samples (Joins, op/operator_type.h): those of its
// samples in their order, with ";" between them.
#pragma once
#include <optional>
#include <span>

#include "batch/batch.h"

namespace stoker {

class Samples;

class JoinedNames final : public Provenance {
 public:
  // `sources`: of the plan, by input. Requires: they and the samples outlive this.
  JoinedNames(const Samples& samples, std::span<const int> sources);

  // The samples of the first input that sample i is made of. Otherwise it is made of its own sample
  // of each input.
  void set(int i, std::vector<int> samples) {
    made_of_[static_cast<size_t>(i)] = std::move(samples);
  }
  std::string name(int64_t i) const override;
  // The names as they are now. They may outlive the step.
  std::shared_ptr<const Provenance> kept() const;

 private:
  const Samples& samples_;
  const std::span<const int> sources_;
  std::vector<std::optional<std::vector<int>>> made_of_;
};

}  // namespace stoker
