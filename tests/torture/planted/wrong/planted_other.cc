// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Gives a worker other bytes than the main thread.
#include <unistd.h>

#include "../planted.h"

namespace stoker::ops::wrong {

struct PlantedOther : Planted<PlantedOther> {
  static constexpr auto schema = described("planted_other");

  void go_wrong(const Run& r) const {
    if (level > 2 && gettid() != getpid() && r.outputs[0].shape.volume() > 0)
      ++*r.outputs[0].as<uint8_t>();
  }
};

}  // namespace stoker::ops::wrong

STOKER_OPERATOR(stoker::ops::wrong::PlantedOther)
