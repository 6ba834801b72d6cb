// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "memory/held.h"

#include <exception>

namespace stoker {

void let_go_behind(Stream& stream, std::shared_ptr<void> held) noexcept {
  try {
    stream.call([held] {}, 0, "release");
    return;
  } catch (const std::exception&) {
    // The error that led here is the one to tell.
  }
  try {
    stream.synchronize();
  } catch (const std::exception&) {
    // Likewise; a device that is lost does no more work.
  }
}

}  // namespace stoker
