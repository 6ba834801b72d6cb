// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Does not end where its argument is large.
#include <unistd.h>

#include "../planted.h"

namespace stoker::ops::wrong {

struct PlantedHang : Planted<PlantedHang> {
  static constexpr auto schema = described("planted_hang");

  void go_wrong(const Run&) const {
    while (level > 6) pause();
  }
};

}  // namespace stoker::ops::wrong

STOKER_OPERATOR(stoker::ops::wrong::PlantedHang)
