// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A worker's way to leave the pictures of a sample in its step. One per worker; one thread at a time.
#pragma once
#include "run/step.h"

namespace stoker {

// Who decodes for the device stage, and as which of its workers; without one there are no pictures.
struct DeviceHelp {
  DeviceDecoder* decoder = nullptr;
  int worker = 0;
};

class StepShelf final : public PictureShelf {
 public:
  // Requires: everything outlives this.
  StepShelf(const Plan& plan, const DeviceHelp& help, HostPool& pool)
      : plan_(plan), help_(help), pool_(pool) {}
  // What comes is of sample i.
  void begin(Step& step, int i);

  bool prepare(int node, const TensorType& type, const Window& window,
               const DecodeRequest& request) override;
  View reserve(int node, const TensorType& type, const Window& window) override;

 private:
  Picture& picture(int node) const { return step_->pictures[i_][plan_.planned(node).mixed]; }

  const Plan& plan_;
  DeviceHelp help_;
  HostPool& pool_;
  Step* step_ = nullptr;
  int i_ = 0;
};

}  // namespace stoker
