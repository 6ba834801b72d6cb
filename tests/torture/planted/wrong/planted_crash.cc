// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Crashes on samples of one element.
#include <csignal>

#include "../planted.h"

namespace stoker::ops::wrong {

struct PlantedCrash : Planted<PlantedCrash> {
  static constexpr auto schema = described("planted_crash");

  void go_wrong(const Run& r) const {
    if (level > 2 && r.inputs[0].shape.volume() == 1) std::raise(SIGSEGV);
  }
};

}  // namespace stoker::ops::wrong

STOKER_OPERATOR(stoker::ops::wrong::PlantedCrash)
