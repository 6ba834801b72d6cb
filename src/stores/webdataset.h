// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Indexes of archives in the layout of WebDataset. Pure functions; thread-safe.
#pragma once
#include "stores/ranges.h"

namespace stoker::stores {

// A member of an archive as an index has it. It refers to the index's text.
struct IndexedMember {
  std::string_view ending, name;  // the name is empty in version 1.1
  int64_t offset, size;
};

// The members of each sample: a line "ending offset size name" for all of a sample's, in version
// 1.1 without names. Names may hold blanks. The numbers are not negative, and may lie outside of
// the archive. `shown`: the index's name in errors. Throws SampleError, with the line.
std::vector<std::vector<IndexedMember>> parse_webdataset_index(std::string_view text,
                                                               const std::string& shown);

}  // namespace stoker::stores
