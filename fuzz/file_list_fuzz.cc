// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Parses any bytes as a file list. They must be refused with a GraphError or parsed, and a parsed
// list must parse to the same list again.
#include "io/paths/path_list.h"
#include "refusals.h"

namespace {

void check(const stoker::io::PathList& list) {
  std::string again;
  for (int64_t i = 0; i < list.size(); ++i)
    again += list.path(i) + " " + std::to_string(list.label(i)) + "\n";
  const auto other = stoker::io::PathList::parse(again, "again", "/data");
  if (other.size() != list.size()) std::abort();
  for (int64_t i = 0; i < list.size(); ++i)
    if (other.path(i) != list.path(i) || other.label(i) != list.label(i)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = stoker::fuzz::text_of(data, size);
  (void)stoker::fuzz::accepts<stoker::GraphError>(
      text, [&] { check(stoker::io::PathList::parse(text, "fuzz", "/data")); });
  return 0;
}
