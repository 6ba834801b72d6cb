// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/boxes.h"

namespace stoker {

FullBoxHead take_full_box_head(ForeignBytes& data) {
  const uint8_t version = data.u8();
  return {version, data.u24()};
}

std::string_view take_uuid(ForeignBytes& data) { return data.text(16); }

void Boxes::require_end() const {
  if (fault_ == Fault::kCut) bytes_.fail_at_end(8);
  if (fault_ == Fault::kTooSmall) bytes_.fail("a box is smaller than its head");
}

}  // namespace stoker
