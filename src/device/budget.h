// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A limit on how much of a device's memory one user of it may hold at once. Thread-safe.
#pragma once
#include <memory>

#include "device/device.h"

namespace stoker {

class DeviceBudget {
 public:
  // Requires: the device outlives this. A limit above the device's own means the device's own.
  DeviceBudget(Device& device, size_t limit);

  Device& device() const { return device_; }
  // Calls Stream::try_acquire and counts the bytes here until the last holder lets go. Null when
  // this limit or the device's does not allow it now.
  std::shared_ptr<DeviceBuffer> try_acquire(Stream& stream, size_t bytes) const;
  // In bytes.
  size_t limit() const { return limit_; }
  size_t in_use() const;
  size_t high_water() const;

 private:
  struct State;  // what buffers share with the budget
  class Charge;
  class CountedBuffer;

  Device& device_;
  const size_t limit_;
  const std::shared_ptr<State> state_;
};

}  // namespace stoker
