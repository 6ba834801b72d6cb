// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The only file here that includes Stoker. It is compiled as Stoker is, so it draws the same.
#include "windows.h"

#include "op/window/random_window.h"

namespace limit {

namespace {
// The pipeline's seed and the keys of its nodes 'window' and 'mirror'.
constexpr uint64_t kSeed = 1;
constexpr uint64_t kWindowKey = stoker::hash64("name:window");
constexpr uint64_t kMirrorKey = stoker::hash64("name:mirror");
}  // namespace

Window window_drawn(int64_t epoch, int64_t position, int height, int width) {
  const stoker::PlaneWindow w =
      stoker::random_window({}, height, width, stoker::Chance(kSeed, kWindowKey, epoch, position));
  const bool mirrored = stoker::Chance(kSeed, kMirrorKey, epoch, position).flip(0.5);
  return {static_cast<int>(w.y), static_cast<int>(w.x), static_cast<int>(w.height),
          static_cast<int>(w.width), mirrored};
}

}  // namespace limit
