// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Throws an error that is not one of Stoker.
#include <stdexcept>

#include "../planted.h"

namespace stoker::ops::wrong {

struct PlantedForeign : Planted<PlantedForeign> {
  static constexpr auto schema = described("planted_foreign");

  void go_wrong(const Run&) const {
    if (level > 4) throw std::runtime_error("not of Stoker");
  }
};

}  // namespace stoker::ops::wrong

STOKER_OPERATOR(stoker::ops::wrong::PlantedForeign)
