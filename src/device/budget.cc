// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "device/budget.h"

#include <algorithm>
#include <utility>

#include "base/mutex.h"

namespace stoker {

struct DeviceBudget::State {
  Mutex mutex;  // no memory is acquired or released under it
  size_t in_use STOKER_GUARDED_BY(mutex) = 0;
  size_t high_water STOKER_GUARDED_BY(mutex) = 0;
};

// A number of bytes, counted as long as this object lives.
class DeviceBudget::Charge {
 public:
  Charge(std::shared_ptr<State> state, size_t bytes) : state_(std::move(state)), bytes_(bytes) {}
  Charge(Charge&& o) noexcept : state_(std::move(o.state_)), bytes_(o.bytes_) {}
  ~Charge() {
    if (!state_) return;
    MutexLock lock(state_->mutex);
    state_->in_use -= bytes_;
  }

 private:
  std::shared_ptr<State> state_;
  const size_t bytes_;
};

class DeviceBudget::CountedBuffer final : public DeviceBuffer {
 public:
  CountedBuffer(std::shared_ptr<DeviceBuffer> buffer, Charge charge)
      : DeviceBuffer(buffer->data(), buffer->size()),
        charge_(std::move(charge)),
        buffer_(std::move(buffer)) {}
  void return_behind(ForeignStream stream) noexcept override { buffer_->return_behind(stream); }

 private:
  Charge charge_;  // ends after the buffer
  std::shared_ptr<DeviceBuffer> buffer_;
};

DeviceBudget::DeviceBudget(Device& device, size_t limit)
    : device_(device),
      limit_(std::min(limit, device.usage().limit)),
      state_(std::make_shared<State>()) {}

std::shared_ptr<DeviceBuffer> DeviceBudget::try_acquire(Stream& stream, size_t bytes) const {
  {
    MutexLock lock(state_->mutex);
    if (bytes > limit_ - state_->in_use) return nullptr;
    state_->in_use += bytes;
  }
  Charge charge(state_, bytes);
  std::shared_ptr<DeviceBuffer> buffer = stream.try_acquire(bytes);
  if (!buffer) return nullptr;
  {
    MutexLock lock(state_->mutex);
    state_->high_water = std::max(state_->high_water, state_->in_use);
  }
  return std::make_shared<CountedBuffer>(std::move(buffer), std::move(charge));
}

size_t DeviceBudget::in_use() const {
  MutexLock lock(state_->mutex);
  return state_->in_use;
}

size_t DeviceBudget::high_water() const {
  MutexLock lock(state_->mutex);
  return state_->high_water;
}

}  // namespace stoker
