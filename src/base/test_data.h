// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdlib>
#include <filesystem>

namespace stoker::test {

// For tests: the folder with real files, which is STOKER_TEST_DATA, else one beside the checkout.
// It need not exist.
inline std::filesystem::path test_data() {
  const char* given = std::getenv("STOKER_TEST_DATA");
  return given ? given : "../shared/data";
}

}  // namespace stoker::test
