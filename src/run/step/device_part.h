// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What a device holds of a step. Whoever has a ticket uses the tasks and pictures of its samples;
// only the device stage, which has the tickets of kDevice stages, uses the values.
#pragma once
#include <map>

#include "run/chain/device_task.h"
#include "run/plan/plan.h"

namespace stoker {

// The values of one edge on the device, for all samples of a step.
struct DeviceEdge {
  std::shared_ptr<Buffer> owner;
  std::vector<View> views;  // by sample; null for a sample that was not made
  size_t count = 0;  // how many of the views are not null
  bool is_dense = false;  // all of one shape, without gaps
};

class DevicePart {
 public:
  DevicePart(const Plan& plan, int64_t size);

  // The node is needed on the device.
  DeviceTask& task(int node, int i) { return tasks_[i][plan_.planned(node).device_number]; }
  const DeviceTask& task(int node, int i) const {
    return tasks_[i][plan_.planned(node).device_number];
  }
  Picture& picture(int node, int i) { return pictures_[i][plan_.planned(node).mixed_number]; }
  const Picture& picture(int node, int i) const {
    return pictures_[i][plan_.planned(node).mixed_number];
  }
  std::vector<char> is_refused;  // by sample: the device's decoder refused it; the CPU decodes it
  // Made or brought there. Each stays until no stage needs it.
  std::map<Ref, DeviceEdge> values;

  const TensorType& type_of(const Ref& value, int i) const;
  void forget(int i, int stage);  // drops the pictures of sample i in a stage
  void drop_pixels();  // of all pictures, and what was prepared of them: their copies are enqueued
  size_t host_bytes() const;  // of pixels that wait to be copied

 private:
  const Plan& plan_;
  std::vector<std::vector<DeviceTask>> tasks_;  // by sample, by PlanNode::device_number
  std::vector<std::vector<Picture>> pictures_;  // by sample, by PlanNode::mixed_number
};

}  // namespace stoker
