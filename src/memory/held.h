// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Things that a stream's work uses, and that nobody may let go of before it is done.
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "memory/device.h"

namespace stoker {

// One list for all that a round enqueues, let go at its end: what a stream calls on the host holds up the work behind it.
using Held = std::vector<std::shared_ptr<const void>>;

// Lets go of `held` when the stream has done what was enqueued so far. For where enqueueing failed half-way: a stream that takes
// nothing any more is waited for.
void let_go_behind(Stream& stream, const std::shared_ptr<void>& held) noexcept;

// Calls enqueue(), and lets go of `held` behind what that enqueued, also where it throws. Throws what it throws, DeviceError.
template <class T, class Enqueue>
void enqueue_with(Stream& stream, T held, Enqueue enqueue) {
  const auto kept = std::make_shared<T>(std::move(held));
  try {
    enqueue();
    stream.call([kept] {}, 0, "release");
  } catch (...) {
    let_go_behind(stream, kept);
    throw;
  }
}

}  // namespace stoker
