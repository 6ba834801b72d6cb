// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "device/pinned_allocator.h"
#include "run/device/device_stage.h"
#include "run/device/testing.h"
#include "run/executors/testing.h"
#include "run/step/sample_maker.h"

namespace stoker {
namespace {

// A step whose stages a test runs one after the other, with the bell that it hears.
class Issue : public OnSimulatedDevice {
 protected:
  void SetUp() override {
    OnSimulatedDevice::SetUp();
    options_.settings = options("pipelined");
    options_.output_limit = options_.scratch_limit = 1 << 20;
    plan_ = std::make_shared<const Plan>(graph_of_all_kinds(), PlanOptions{.batch_size = 2});
    pool_ = std::make_unique<HostPool>(1 << 20, std::make_shared<PinnedAllocator>(device()));
    stage_ = std::make_unique<DeviceStage>(plan_, options_, *pool_, [this] { ++rings_; });
    step_ = std::make_unique<Step>(*plan_, 0, std::vector<int64_t>{0}, nullptr, options_);
    ASSERT_TRUE(step_->slots.allocate(*pool_, true));
    run_chain(0);
  }
  void TearDown() override {
    step_.reset();
    stage_.reset();
    pool_.reset();
    OnSimulatedDevice::TearDown();
  }
  void run_chain(int stage) {
    Fetchers none;
    SampleMaker maker(*plan_, plan_->rewrites(), options_, none, *pool_, nullptr);
    std::vector<SampleFailure> failures;
    for (int i = 0; i < 2; ++i) step_->samples.is_made[i] = maker.make(*step_, i, stage, failures);
    EXPECT_TRUE(failures.empty());
  }
  void wait_for_copies() {
    stage_->wait(*step_);
    EXPECT_TRUE(stage_->is_copied(state_));
  }

  ExecutorOptions options_;
  std::shared_ptr<const Plan> plan_;
  std::unique_ptr<HostPool> pool_;
  std::atomic<int> rings_{0};
  std::unique_ptr<DeviceStage> stage_;
  std::unique_ptr<Step> step_;
  Issued state_;
};

TEST_F(Issue, RingsWhenAwaitedCopiesAreThere) {
  EXPECT_TRUE(stage_->issue(*step_, 1, state_, false).empty());
  ASSERT_TRUE(state_.copied);
  EXPECT_TRUE(state_.is_collected);
  EXPECT_FALSE(state_.outputs);
  wait_for_copies();
  EXPECT_FALSE(state_.copied);
  EXPECT_EQ(rings_, 1);
}

TEST_F(Issue, IsQuietAfterSilence) {
  device().delay(DeviceCall::kCopy, 1, 0, std::chrono::milliseconds(20));
  (void)stage_->issue(*step_, 1, state_, false);
  stage_->silence();
  wait_for_copies();
  EXPECT_EQ(rings_, 0);
}

TEST_F(Issue, TheLastStageHandsOutWhatLiesOnTheDevice) {
  state_.is_collected = false;
  EXPECT_TRUE(stage_->issue(*step_, 1, state_, false).empty());
  wait_for_copies();
  step_->samples.is_made = {0, 0};
  const int last = plan_->stage_count() - 1;
  state_.is_collected = false;
  EXPECT_TRUE(stage_->issue(*step_, last, state_, false).empty());
  ASSERT_TRUE(state_.outputs);
  EXPECT_TRUE(state_.outputs->is_lost) << "no sample is left";
  EXPECT_FALSE(state_.copied) << "nothing reads copies later";
}

TEST_F(Issue, AFullDeviceMayBeTriedAgain) {
  ExecutorOptions small = options_;
  small.device_limit = 1;
  DeviceStage full(plan_, small, *pool_, [] {});
  EXPECT_THROW((void)full.issue(*step_, 1, state_, true), DeviceFull);
  EXPECT_FALSE(state_.copied);
  EXPECT_TRUE(stage_->issue(*step_, 1, state_, false).empty());
  wait_for_copies();
}

TEST_F(Issue, SaysWhatFailedBeforeTheCopies) {
  device().fail(DeviceCall::kLaunch, 1);
  EXPECT_THROW(
      {
        (void)stage_->issue(*step_, 1, state_, false);
        stage_->wait(*step_);
        (void)stage_->is_copied(state_);
      },
      DeviceError);
}

}  // namespace
}  // namespace stoker
