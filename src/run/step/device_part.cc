// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/step/device_part.h"

namespace stoker {

DevicePart::DevicePart(const Plan& plan, int64_t size)
    : is_refused(static_cast<size_t>(size)),
      plan_(plan),
      tasks_(static_cast<size_t>(size), std::vector<DeviceTask>(plan.device_nodes().size())),
      pictures_(static_cast<size_t>(size)) {
  for (auto& sample : pictures_) sample.resize(plan.mixed_nodes().size());
}

const TensorType& DevicePart::type_of(const Ref& value, int i) const {
  if (plan_.planned(value.node).mixed_number >= 0) return picture(value.node, i).type;
  return task(value.node, i).types[value.output];
}

void DevicePart::forget(int i, int stage) {
  for (int n : plan_.mixed_nodes())
    if (plan_.planned(n).stage == stage) picture(n, i) = {};
}

void DevicePart::drop_pixels() {
  for (auto& sample : pictures_)
    for (Picture& p : sample) {
      p.owner.reset();
      p.prepared.reset();
    }
}

size_t DevicePart::host_bytes() const {
  size_t n = 0;
  for (auto& sample : pictures_)
    for (const Picture& p : sample)
      if (p.pixels.data) n += static_cast<size_t>(p.pixels.bytes());
  return n;
}

}  // namespace stoker
