// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "memory/system.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "memory/poison.h"

namespace stoker {
namespace {

TEST(SystemMemory, IsAlignedAndWritableToItsEnd) {
  for (const size_t bytes : {1u, 63u, 64u, 65535u, 65536u, 131071u, 131072u, 131073u, 5000000u}) {
    const SystemMemory memory = take_from_system(bytes);
    ASSERT_NE(memory, nullptr) << bytes;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.get()) % allocation_alignment(bytes), 0u) << bytes;
    std::memset(memory.get(), 1, bytes);
  }
}

TEST(SystemMemory, IsNullWhereThereIsNone) {
  if (kPoisons) GTEST_SKIP() << "AddressSanitizer ends the process instead";
  EXPECT_EQ(take_from_system(size_t{1} << 60), nullptr);
}

size_t own_megabytes() {
  std::ifstream statm("/proc/self/statm");
  size_t all = 0, resident = 0;
  statm >> all >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE)) >> 20;
}

// malloc keeps allocations of these sizes once one of them was freed.
TEST(SystemMemory, LargeAllocationsLeaveTheProcessWhenTheyAreGivenBack) {
  if (kPoisons) GTEST_SKIP() << "AddressSanitizer keeps what was freed";
  const size_t before = own_megabytes();
  for (int round = 0; round < 3; ++round) {
    std::vector<SystemMemory> all;
    for (int i = 0; i < 512; ++i) {
      all.push_back(take_from_system((256 << 10) + static_cast<size_t>(i % 7) * kPageBytes));
      std::memset(all.back().get(), 1, all.back().get_deleter().bytes);
    }
    EXPECT_GE(own_megabytes(), before + 100);
    all.erase(all.begin(), all.end() - 1);  // the last one lies at an end of the heap
    EXPECT_LE(own_megabytes(), before + 16);
  }
}

}  // namespace
}  // namespace stoker
