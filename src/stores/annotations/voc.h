// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Annotations of Pascal VOC: a file of XML for each picture.
#pragma once
#include <optional>
#include <string>

#include "stores/ranges.h"

namespace stoker::stores {

struct VocObject {
  std::string name, pose;  // empty: the file does not say
  std::optional<SampleError> box_fault;  // why it has no box
  float left = 0, top = 0, right = 0, bottom = 0;  // as the file says, counted from 1
  bool difficult = false, truncated = false;
};

struct VocAnnotation {
  std::string file_name;
  int32_t width = 0, height = 0;  // 0: the file does not say
  std::optional<SampleError> size_fault;  // why it does not
  std::vector<VocObject> objects;
};

// Parts of objects are left out. Throws SampleError, with an offset, for what is no XML or no
// annotation. What is wrong with a box or with the size is left to those who need it.
VocAnnotation parse_voc(ByteSpan xml);

}  // namespace stoker::stores
