// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// For tests: the folder with real files.
#pragma once
#include <cstdlib>
#include <filesystem>

namespace stoker::test {

// STOKER_TEST_DATA, else a folder beside the checkout. It need not exist.
inline std::filesystem::path test_data() {
  const char* given = std::getenv("STOKER_TEST_DATA");
  return given ? given : "../shared/data";
}

}  // namespace stoker::test
