// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
// What a process may take, with the files of control groups below a folder of the test's own.
#include "run/machine.h"

#include <unistd.h>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>

namespace stoker {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

class Machine : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove_all(root_); }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string& file, const std::string& text) const {
    const std::filesystem::path path = root_ + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  }
  void write(const std::string& file, size_t number) const { write(file, std::to_string(number)); }

  const std::string root_ = ::testing::TempDir() + "stoker_machine" + std::to_string(getpid());
};

TEST_F(Machine, WithoutControlGroupsHasItsOwnMemoryAndCpus) {
  EXPECT_GT(allowed_memory(root_), 64 * kMiB);
  EXPECT_GT(free_memory(root_), 0u);
  EXPECT_EQ(allowed_cpus(6, root_), 6);
}

TEST_F(Machine, AContainerSeesItsLimitAtTheRoot) {
  write("/sys/fs/cgroup/memory.max", 300 * kMiB);
  EXPECT_EQ(allowed_memory(root_), 300 * kMiB);
  write("/sys/fs/cgroup/memory.max", "max");
  EXPECT_GT(allowed_memory(root_), 300 * kMiB);
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", 200 * kMiB);
  EXPECT_EQ(allowed_memory(root_), 200 * kMiB);
}

TEST_F(Machine, TheLeastLimitOfTheGroupsAroundAGroupHolds) {
  write("/proc/self/cgroup", "0::/slice/job/step");
  write("/sys/fs/cgroup/slice/job/step/memory.max", "max");
  write("/sys/fs/cgroup/slice/job/memory.max", 500 * kMiB);
  write("/sys/fs/cgroup/slice/memory.max", 900 * kMiB);
  EXPECT_EQ(allowed_memory(root_), 500 * kMiB);
  write("/sys/fs/cgroup/slice/memory.high", 400 * kMiB);  // from here on it is slowed down
  EXPECT_EQ(allowed_memory(root_), 400 * kMiB);
  write("/sys/fs/cgroup/slice/job/step/memory.max", 100 * kMiB);
  EXPECT_EQ(allowed_memory(root_), 100 * kMiB);
}

TEST_F(Machine, Version1HasAGroupForEachController) {
  write("/proc/self/cgroup", "5:cpu,cpuacct:/busy\n4:memory:/outer/inner\n0::/");
  write("/sys/fs/cgroup/memory/outer/memory.limit_in_bytes", 700 * kMiB);
  write("/sys/fs/cgroup/memory/outer/inner/memory.limit_in_bytes", 9223372036854771712u);  // none
  write("/sys/fs/cgroup/cpu/busy/cpu.cfs_quota_us", "150000");
  write("/sys/fs/cgroup/cpu/busy/cpu.cfs_period_us", "50000");
  EXPECT_EQ(allowed_memory(root_), 700 * kMiB);
  EXPECT_EQ(allowed_cpus(8, root_), 3);
}

TEST_F(Machine, Version1TellsALimitOfGroupsThatAreNotSeen) {
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", 9223372036854771712u);
  write("/sys/fs/cgroup/memory/memory.stat",
        "cache 1\nhierarchical_memory_limit " + std::to_string(250 * kMiB) + "\nrss 2");
  EXPECT_EQ(allowed_memory(root_), 250 * kMiB);
}

TEST_F(Machine, AContainerWithoutANamespaceSeesItsOwnGroupAtTheMount) {
  write("/proc/self/cgroup", "0::/docker/0a1b/inner");
  write("/proc/self/mountinfo",
        "35 23 0:28 /docker/0a1b /sys/fs/cgroup ro,relatime - cgroup2 cgroup2 rw");
  write("/sys/fs/cgroup/memory.max", 600 * kMiB);
  write("/sys/fs/cgroup/inner/memory.max", 350 * kMiB);
  EXPECT_EQ(allowed_memory(root_), 350 * kMiB);
}

TEST_F(Machine, WhatIsInUseIsNotFreeButTheCacheOfFilesIs) {
  write("/sys/fs/cgroup/memory.max", 300 * kMiB);
  write("/sys/fs/cgroup/memory.current", 290 * kMiB);
  EXPECT_EQ(free_memory(root_), 10 * kMiB);
  write("/sys/fs/cgroup/memory.stat", "anon 7\ninactive_file " + std::to_string(50 * kMiB));
  EXPECT_EQ(free_memory(root_), 60 * kMiB);
  write("/sys/fs/cgroup/memory.current", 400 * kMiB);  // it may be above the limit for a while
  EXPECT_EQ(free_memory(root_), 0u);
}

TEST_F(Machine, PartOfACpuIsOneThread) {
  write("/sys/fs/cgroup/cpu.max", "max 100000");
  EXPECT_EQ(allowed_cpus(8, root_), 8);
  write("/sys/fs/cgroup/cpu.max", "50000 100000");
  EXPECT_EQ(allowed_cpus(8, root_), 1);
  write("/sys/fs/cgroup/cpu.max", "250000 100000");
  EXPECT_EQ(allowed_cpus(8, root_), 3);
  EXPECT_EQ(allowed_cpus(2, root_), 2);
}

TEST_F(Machine, QuotasThatAreNoneOrDamagedAreNoLimit) {
  write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1");
  write("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
  write("/sys/fs/cgroup/memory.max", "");
  write("/proc/self/cgroup", "damaged");
  EXPECT_EQ(allowed_cpus(5, root_), 5);
  EXPECT_GT(allowed_memory(root_), 64 * kMiB);
}

// Sets a limit of the process until it goes.
class Limited {
 public:
  explicit Limited(size_t bytes) {
    getrlimit(RLIMIT_AS, &before_);
    const rlimit less{bytes, before_.rlim_max};
    setrlimit(RLIMIT_AS, &less);
  }
  ~Limited() { setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_{};
};

TEST_F(Machine, OfAnAddressSpaceItIsWhatIsLeft) {
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const Limited limited(pages * 4096 + 100 * kMiB);
  EXPECT_LE(allowed_memory(root_), 101 * kMiB);
  EXPECT_LE(free_memory(root_), 101 * kMiB);
  EXPECT_GT(allowed_memory(root_), 50 * kMiB);
}

}  // namespace
}  // namespace stoker
