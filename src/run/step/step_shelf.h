// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A worker's way to leave the pictures of a sample in its step. One per worker; one thread at a
// time.
#pragma once
#include "run/step/step.h"

namespace stoker {

class StepShelf final : public PictureShelf {
 public:
  // Requires: everything outlives this. `decoder`: of the device stage, null without one.
  StepShelf(const Plan& plan, DeviceDecoder* decoder, HostPool& pool)
      : plan_(plan), decoder_(decoder), pool_(pool) {}
  // What comes is of sample i.
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
