// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// How threads that may outlive an executor call it: those of a device's runtime and of the user's
// functions. Thread-safe.
#pragma once
#include <functional>

#include "base/mutex.h"

namespace stoker {

class Bell {
 public:
  explicit Bell(std::function<void()> call) : call_(std::move(call)) {}
  void ring() {
    const MutexLock lock(mutex_);
    if (call_) call_();
  }
  // On return, the call is not running and will not be made again. Requires: no lock is held that
  // the call takes.
  void silence() {
    const MutexLock lock(mutex_);
    call_ = nullptr;
  }

 private:
  Mutex mutex_;  // nothing but the call is made under it
  std::function<void()> call_ STOKER_GUARDED_BY(mutex_);
};

}  // namespace stoker
