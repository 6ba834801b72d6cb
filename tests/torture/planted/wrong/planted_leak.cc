// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Loses some memory with every sample.
#include <cstdlib>

#include "../planted.h"

namespace stoker::ops::wrong {

struct PlantedLeak : Planted<PlantedLeak> {
  static constexpr auto schema = described("planted_leak");

  static void go_wrong(const Run&) {
    if (void* volatile lost = std::malloc(100); !lost) throw SampleError("no memory");
  }
};

}  // namespace stoker::ops::wrong

STOKER_OPERATOR(stoker::ops::wrong::PlantedLeak)
