// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/affinity.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/testing.h"
#include "device/nvml/stand_in_testing.h"
#include "device/simulated/simulated.h"
#include "run/testing.h"

namespace stoker {
namespace {

const Cpus kUsable = {0, 1, 2, 3, 8, 9};

class AffinityTest : public testing::Test {
 protected:
  void SetUp() override {
    nvml_->gpus = {{.bus_id = "0000:65:00.0",
                    .uuid = "GPU-first",
                    .memory = {},
                    .near_cpus = {2, 3, 4, 5, 8}}};
  }
  void TearDown() override { unsetenv("DALI_AFFINITY_MASK"); }
  static void choose(const char* mask) { setenv("DALI_AFFINITY_MASK", mask, 1); }
  static std::string refusal(const char* mask) {
    choose(mask);
    return message<GraphError>([] { (void)affinity_for(2, nullptr, kUsable); });
  }

  fake::StandInNvml nvml_;
  SimulatedDevice device_{{.pci_bus_id = "0000:65:00.0"}};
};

TEST_F(AffinityTest, UsableCpusNearTheDevice) {
  const Affinity a = affinity_for(3, &device_, kUsable);
  EXPECT_EQ(a.cpus, (std::vector<Cpus>(3, {2, 3, 8})));
  EXPECT_EQ(a.words, "on CPUs 2-3, 8, near simulated:0");
}

TEST_F(AffinityTest, AnyCpuWhereNoneIsNear) {
  const std::vector<Cpus> any(2);
  Affinity a = affinity_for(2, nullptr, kUsable);
  EXPECT_EQ(a.cpus, any);
  EXPECT_EQ(a.words, "on any CPU: the pipeline has no device");
  const SimulatedDevice nowhere;
  EXPECT_EQ(affinity_for(2, &nowhere, kUsable).words,
            "on any CPU: simulated:0 has no place in the machine");
  a = affinity_for(2, &device_, {0, 1});
  EXPECT_EQ(a.cpus, any);
  EXPECT_EQ(a.words, "on any CPU: this process may use none of the CPUs near simulated:0 (2-5, 8)");
  nvml_->errors = {{"nvmlDeviceGetCpuAffinity", nvml::kNotSupported}};
  a = affinity_for(2, &device_, kUsable);
  EXPECT_EQ(a.cpus, any);
  EXPECT_EQ(a.words, "on any CPU: near_cpus: Not Supported");
}

TEST_F(AffinityTest, TheVariablePlacesTheFirstWorkers) {
  choose("9,0");
  Affinity a = affinity_for(3, &device_, kUsable);
  EXPECT_EQ(a.cpus, (std::vector<Cpus>{{9}, {0}, {2, 3, 8}}));
  EXPECT_EQ(a.words,
            "on CPUs 9, 0 (DALI_AFFINITY_MASK); the others on CPUs 2-3, 8, near simulated:0");
  a = affinity_for(1, nullptr, kUsable);
  EXPECT_EQ(a.cpus, (std::vector<Cpus>{{9}}));
  EXPECT_EQ(a.words, "on CPUs 9 (DALI_AFFINITY_MASK)");
  choose("");
  EXPECT_EQ(affinity_for(1, nullptr, kUsable).words, "on any CPU: the pipeline has no device");
}

TEST_F(AffinityTest, AVariableThatNamesNoUsableCpuIsRefused) {
  EXPECT_EQ(refusal("0,7"),
            "DALI_AFFINITY_MASK takes numbers of CPUs that this process may use (0-3, 8-9), with "
            "commas between; it is '0,7'");
  for (const char* mask : {"all", "0,", ",0", "0;1", "0, 1", "-1", "0x1", "99999999999"})
    EXPECT_NE(refusal(mask), "nothing was thrown") << mask;
  EXPECT_EQ(refusal("0,0"), "nothing was thrown");
}

TEST_F(AffinityTest, InWords) {
  EXPECT_EQ(in_words(Cpus{}), "none");
  EXPECT_EQ(in_words(Cpus{4}), "4");
  EXPECT_EQ(in_words(Cpus{0, 1, 2, 5, 7, 8}), "0-2, 5, 7-8");
}

TEST_F(AffinityTest, AThreadRunsWhereItIsTold) {
  const Cpus usable = usable_cpus();
  ASSERT_FALSE(usable.empty());
  Cpus told, untold;
  std::thread([&] {
    run_on({});
    untold = usable_cpus();
    run_on({usable.back()});
    told = usable_cpus();
  }).join();
  EXPECT_EQ(untold, usable);
  EXPECT_EQ(told, Cpus{usable.back()});
  EXPECT_EQ(usable_cpus(), usable) << "others stay";
}

class AffinityOfAPipeline : public AffinityTest {
 protected:
  void SetUp() override {
    AffinityTest::SetUp();
    use_simulated_devices(1, {.pci_bus_id = "0000:65:00.0"});
    nvml_->gpus[0].near_cpus = near_;
  }
  void TearDown() override {
    use_simulated_devices(0);
    AffinityTest::TearDown();
  }

  // How many threads may run on near_ alone while a pipeline of three workers exists. The others
  // may run on more CPUs, so the count is 0 if near_ is all there is.
  int64_t bound_threads(bool set_affinity, ExecutorKind executor = ExecutorKind::kPipelined) {
    const SampleFolder folder(4);
    await_workers(0);  // joined workers may still be listed for a moment
    Pipeline pipe(raw_graph(folder), {.batch_size = 4,
                                      .num_threads = 3,
                                      .device_id = 0,
                                      .set_affinity = set_affinity,
                                      .executor = executor});
    plan_ = pipe.plan_in_words();
    EXPECT_TRUE(pipe.run());
    await_workers(executor == ExecutorKind::kPipelined ? 3 : 0);
    const std::vector<int> all = threads();
    return near_ == usable_ ? 0 : std::ranges::count(all, near_, cpus_of);
  }
  static std::vector<int> threads() {
    std::vector<int> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
      found.push_back(std::stoi(entry.path().filename()));
    return found;
  }
  // Workers get their name after they were bound to their CPUs.
  static void await_workers(int64_t count) {
    const auto is_worker = [](int thread) {
      std::string name;
      std::getline(std::ifstream("/proc/self/task/" + std::to_string(thread) + "/comm"), name);
      return name == "stoker-worker";
    };
    while (std::ranges::count_if(threads(), is_worker) != count) std::this_thread::yield();
  }
  static Cpus cpus_of(int thread) {
    cpu_set_t set;
    CPU_ZERO(&set);  // stays empty for a thread that has ended
    (void)sched_getaffinity(thread, sizeof set, &set);
    Cpus cpus;
    for (int i = 0; i < CPU_SETSIZE; ++i)
      if (CPU_ISSET(i, &set)) cpus.push_back(i);
    return cpus;
  }

  const Cpus usable_ = usable_cpus();
  const Cpus near_ = {usable_.back()};
  std::string plan_;
};

TEST_F(AffinityOfAPipeline, WorkersAloneRunNearItsDevice) {
  const int workers = near_ == usable_ ? 0 : 3;
  EXPECT_EQ(bound_threads(true), workers);
  EXPECT_TRUE(plan_.ends_with("workers: on CPUs " + in_words(near_) + ", near simulated:0\n"))
      << plan_;
  EXPECT_EQ(bound_threads(false), 0);
  EXPECT_EQ(plan_.find("workers: "), std::string::npos);
  EXPECT_EQ(bound_threads(true, ExecutorKind::kSimple), 0) << "the user's thread stays";
}

TEST_F(AffinityOfAPipeline, AWrongVariableIsToldWhenItIsBuilt) {
  choose("none");
  EXPECT_THROW(bound_threads(true), GraphError);
  EXPECT_NO_THROW(bound_threads(false));
}

}  // namespace
}  // namespace stoker
