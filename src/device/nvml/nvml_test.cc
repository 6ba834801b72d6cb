// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "device/nvml/nvml.h"

#include <gtest/gtest.h>

#include "device/nvml/stand_in_testing.h"

namespace stoker {
namespace {

class NvmlTest : public testing::Test {
 protected:
  void SetUp() override {
    told_->gpus = {{.bus_id = "0000:C1:00.0", .uuid = "GPU-second", .memory = {}},
                   {.bus_id = "0000:65:00.0",
                    .uuid = "GPU-first",
                    .memory = {.total = 80'000, .free = 50'000, .used = 30'000},
                    .utilization = 71,
                    .jpeg_utilization = 23,
                    .near_cpus = {0, 1, 63, 64, 1023}}};
  }
  fake::StandInNvml told_;
};

TEST_F(NvmlTest, TellsOfTheDriver) {
  {
    const Nvml nvml;
    EXPECT_EQ(nvml.missing(), "");
    EXPECT_EQ(nvml.driver(), "580.65.06");
    EXPECT_EQ(nvml.cuda(), 13010);
    EXPECT_EQ(nvml.gpus(), 2);
    EXPECT_EQ(told_->starts, 1);
    EXPECT_EQ(told_->stops, 0);
  }
  EXPECT_EQ(told_->stops, 1);
}

TEST_F(NvmlTest, TellsOfAGpuByItsPlace) {
  const Nvml nvml;
  const GpuFacts f = nvml.gpu("0000:65:00.0");
  EXPECT_EQ(f.missing, "");
  EXPECT_EQ(f.uuid, "GPU-first");
  EXPECT_EQ(f.memory_total, 80'000u);
  EXPECT_EQ(f.memory_used, 30'000u);
  EXPECT_EQ(f.utilization, 71);
  EXPECT_EQ(f.jpeg_utilization, 23);
  EXPECT_EQ(f.near_cpus, (std::vector<int>{0, 1, 63, 64, 1023}));
  EXPECT_EQ(nvml.gpu("0000:C1:00.0").uuid, "GPU-second");
  const GpuFacts absent = nvml.gpu("0000:07:00.0");
  EXPECT_EQ(absent.uuid, std::nullopt);
  EXPECT_EQ(absent.missing, "NVML finds no GPU at 0000:07:00.0: Not Found");
}

TEST_F(NvmlTest, WhatOneFunctionRefusesIsEmptyAlone) {
  using Holds = bool (*)(const GpuFacts&);
  struct Fact {
    const char *function, *name;
    Holds holds;
  };
  const Fact facts[] = {
      {"nvmlDeviceGetUUID", "uuid", [](const GpuFacts& f) { return f.uuid.has_value(); }},
      {"nvmlDeviceGetMemoryInfo", "memory",
       [](const GpuFacts& f) { return f.memory_total && f.memory_used; }},
      {"nvmlDeviceGetUtilizationRates", "utilization",
       [](const GpuFacts& f) { return f.utilization.has_value(); }},
      {"nvmlDeviceGetJpgUtilization", "jpeg_utilization",
       [](const GpuFacts& f) { return f.jpeg_utilization.has_value(); }},
      {"nvmlDeviceGetCpuAffinity", "near_cpus",
       [](const GpuFacts& f) { return f.near_cpus.has_value(); }}};
  const Nvml nvml;
  for (const Fact& refused : facts) {
    told_->errors = {{refused.function, nvml::kNotSupported}};
    const GpuFacts f = nvml.gpu("0000:65:00.0");
    EXPECT_EQ(f.missing, std::string(refused.name) + ": Not Supported");
    for (const Fact& fact : facts) EXPECT_EQ(fact.holds(f), &fact != &refused) << fact.name;
  }
  told_->errors = {{"nvmlDeviceGetUUID", nvml::kNotSupported},
                   {"nvmlDeviceGetMemoryInfo", nvml::kNotFound}};
  EXPECT_EQ(nvml.gpu("0000:65:00.0").missing, "uuid: Not Supported; memory: Not Found");
}

TEST_F(NvmlTest, WhatOfTheDriverIsRefusedIsEmptyAlone) {
  const Nvml nvml;
  told_->errors = {{"nvmlSystemGetDriverVersion", nvml::kNotSupported}};
  EXPECT_EQ(nvml.driver(), std::nullopt);
  EXPECT_EQ(nvml.cuda(), 13010);
  told_->errors = {{"nvmlSystemGetCudaDriverVersion_v2", nvml::kNotSupported},
                   {"nvmlDeviceGetCount_v2", nvml::kNotSupported}};
  EXPECT_EQ(nvml.driver(), "580.65.06");
  EXPECT_EQ(nvml.cuda(), std::nullopt);
  EXPECT_EQ(nvml.gpus(), std::nullopt);
}

TEST_F(NvmlTest, AGpuInMigModeIsNotTaken) {
  told_->gpus[1].mig_mode = 1;
  const Nvml nvml;
  const GpuFacts f = nvml.gpu("0000:65:00.0");
  EXPECT_EQ(f.uuid, std::nullopt);
  EXPECT_EQ(f.near_cpus, std::nullopt);
  EXPECT_EQ(f.missing,
            "the GPU at 0000:65:00.0 is in MIG mode: NVML tells of all of it, and this device is a "
            "part");
  told_->errors = {{"nvmlDeviceGetMigMode", nvml::kNotSupported}};  // GPUs without such a mode
  EXPECT_EQ(nvml.gpu("0000:65:00.0").uuid, "GPU-first");
  told_->errors = {{"nvmlDeviceGetMigMode", nvml::kDriverNotLoaded}};
  EXPECT_EQ(nvml.gpu("0000:65:00.0").uuid, std::nullopt);
  EXPECT_EQ(nvml.gpu("0000:65:00.0").missing,
            "NVML does not tell whether the GPU at 0000:65:00.0 is in MIG mode: Driver Not Loaded");
}

TEST_F(NvmlTest, ALibraryThatDoesNotStartTellsNothing) {
  told_->errors = {{"nvmlInit_v2", nvml::kLibRmVersionMismatch}};
  {
    const Nvml nvml;
    EXPECT_EQ(nvml.status(), nvml::kLibRmVersionMismatch);
    EXPECT_EQ(nvml.missing(), std::string("NVML (") + STOKER_STAND_IN_NVML +
                                  ") does not start: Driver/library version mismatch");
    EXPECT_EQ(nvml.driver(), std::nullopt);
    EXPECT_EQ(nvml.cuda(), std::nullopt);
    EXPECT_EQ(nvml.gpus(), std::nullopt);
    EXPECT_EQ(nvml.gpu("0000:65:00.0").missing, nvml.missing());
  }
  EXPECT_EQ(told_->stops, 0) << "what did not start is not stopped";
}

TEST_F(NvmlTest, AFunctionThatIsMissingIsNamed) {
  const auto without = [&](const std::string& absent) {
    return
        [this, absent](const char* name) { return name == absent ? nullptr : told_.symbol(name); };
  };
  const Nvml old(without("nvmlDeviceGetMigMode"), "the stand-in");
  EXPECT_EQ(old.missing(),
            "the stand-in has no function nvmlDeviceGetMigMode; NVML of driver 450 or newer is "
            "needed");
  EXPECT_EQ(old.status(), std::nullopt);
  EXPECT_EQ(told_->starts, 0);
  const Nvml newer(without("nvmlDeviceGetJpgUtilization"), "the stand-in");
  EXPECT_EQ(newer.missing(), "");
  const GpuFacts f = newer.gpu("0000:65:00.0");
  EXPECT_EQ(f.jpeg_utilization, std::nullopt);
  EXPECT_EQ(f.utilization, 71);
  EXPECT_EQ(f.missing, "jpeg_utilization: the driver is too old to tell");
}

TEST_F(NvmlTest, SaysWhereItLooked) {
  setenv("STOKER_NVML", "/nowhere/libnvidia-ml.so.1", 1);
  const Nvml absent;
  EXPECT_EQ(absent.missing().find("no NVML was found (/nowhere/libnvidia-ml.so.1: "), 0u)
      << absent.missing();
  EXPECT_EQ(absent.gpu("0000:65:00.0").missing, absent.missing());
  setenv("STOKER_NVML", "libc.so.6", 1);
  EXPECT_EQ(Nvml().missing(),
            "libc.so.6 has no function nvmlInit_v2; NVML of driver 450 or newer is needed");
}

TEST(CudaVersion, InWords) {
  EXPECT_EQ(cuda_version_in_words(13010), "13.1");
  EXPECT_EQ(cuda_version_in_words(12090), "12.9");
}

}  // namespace
}  // namespace stoker
