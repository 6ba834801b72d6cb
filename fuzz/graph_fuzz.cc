// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Loads any text as a saved graph. It must be refused with a GraphError, or be saved to a text that
// stays the same, and then be planned and run or refused.
#include "graphs.h"
#include "json_mutator.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  stoker::fuzz::try_graph(std::string(stoker::fuzz::text_of(data, size)));
  return 0;
}
