// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// How much of a device's memory one user of it may hold at once. Thread-safe.
#pragma once
#include <memory>

#include "device/device.h"

namespace stoker {

class DeviceBudget {
 public:
  // Requires: the device outlives this. A limit beyond the device's own is that.
  DeviceBudget(Device& device, size_t limit);

  Device& device() const { return device_; }
  // Stream::try_acquire, counted here until the last holder lets go. Null when this limit or the
  // device's does not allow it now.
  std::shared_ptr<DeviceBuffer> try_acquire(Stream& stream, size_t bytes) const;
  // Bytes.
  size_t limit() const { return limit_; }
  size_t in_use() const;
  size_t high_water() const;

 private:
  struct State;  // what buffers share with this
  class Charge;
  class CountedBuffer;

  Device& device_;
  const size_t limit_;
  const std::shared_ptr<State> state_;
};

}  // namespace stoker
