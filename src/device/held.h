// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Things that a stream's work uses, and that nobody may let go of before it is done.
#pragma once
#include <memory>
#include <vector>

#include "device/device.h"

namespace stoker {

// One list for all that a round enqueues, let go at its end: what a stream calls on the host holds
// up the work behind it.
using Held = std::vector<std::shared_ptr<const void>>;

// Lets go of `held` when the stream has done what was enqueued so far. For where enqueueing failed
// half-way: a stream that takes nothing any more is waited for.
void let_go_behind(Stream& stream, const std::shared_ptr<void>& held) noexcept;

// Calls enqueue(held), and lets go of what that held behind what it enqueued, also where it throws.
// Throws what it throws, DeviceError.
template <class Enqueue>
void enqueue_with(Stream& stream, Enqueue enqueue) {
  const auto held = std::make_shared<Held>();
  try {
    enqueue(*held);
    stream.call([held] {}, 0, "release");
  } catch (...) {
    let_go_behind(stream, held);
    throw;
  }
}

}  // namespace stoker
