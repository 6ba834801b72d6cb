// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Annotations of Pascal VOC: a file of XML for each picture. Pure functions; thread-safe.
#pragma once
#include <string>

#include "stores/ranges.h"

namespace stoker::stores {

struct VocObject {
  std::string name, pose;
  float left = 0, top = 0, right = 0, bottom = 0;  // as the file says, counted from 1
  bool difficult = false, truncated = false;
};

struct VocAnnotation {
  std::string file_name;
  int32_t width = 0, height = 0;  // 0: the file does not say
  std::vector<VocObject> objects;
};

// Parts of objects are left out. Throws SampleError, with an offset, for what is no XML or no
// annotation.
VocAnnotation parse_voc(ByteSpan xml);

}  // namespace stoker::stores
