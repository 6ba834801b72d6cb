// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "device/held.h"

#include <exception>
#include <functional>

namespace stoker {

namespace {

// Whether f succeeds. Its error is dropped, because an earlier one is being thrown.
bool succeeds(const std::function<void()>& f) {
  try {
    f();
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

void let_go_behind(Stream& stream, const std::shared_ptr<void>& held) noexcept {
  if (succeeds([&] { stream.call([held] {}, 0, "release"); })) return;
  // If this fails as well, the device is lost and does no more work.
  (void)succeeds([&] { stream.synchronize(); });
}

}  // namespace stoker
