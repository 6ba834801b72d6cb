// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Things that a stream's work uses, kept alive until the work is done.
#pragma once
#include <memory>
#include <vector>

#include "device/device.h"

namespace stoker {

// One list for everything that a round enqueues. It is released at the round's end in one go,
// because a host call on a stream delays the work after it.
using Held = std::vector<std::shared_ptr<const void>>;

// Releases `held` when the stream has done what was enqueued so far. It serves where enqueueing
// failed half-way: if the stream takes no more work, this waits for it.
void let_go_behind(Stream& stream, const std::shared_ptr<void>& held) noexcept;

// Calls enqueue(held) and releases `held` after the enqueued work, even where enqueue throws.
// Throws what enqueue throws, and DeviceError.
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
