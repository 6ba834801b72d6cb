// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The shelf on which a worker leaves the pictures of a sample: they go to its step. One per worker;
// one thread at a time.
#pragma once
#include "run/step/step.h"

namespace stoker {

class StepShelf final : public PictureShelf {
 public:
  // Requires: all arguments outlive this. `decoder`: the device stage's, or null without one.
  StepShelf(const Plan& plan, DeviceDecoder* decoder, HostPool& pool)
      : plan_(plan), decoder_(decoder), pool_(pool) {}
  // The pictures that follow belong to sample i.
  void begin(Step& step, int i);

  bool prepare(int node, const TensorType& type, const Window& window,
               const DecodeRequest& request) override;
  View reserve(int node, const TensorType& type, const Window& window) override;

 private:
  Picture& picture(int node) const { return step_->pictures[i_][plan_.planned(node).mixed_number]; }

  const Plan& plan_;
  DeviceDecoder* const decoder_;
  HostPool& pool_;
  Step* step_ = nullptr;
  int i_ = 0;
};

}  // namespace stoker
