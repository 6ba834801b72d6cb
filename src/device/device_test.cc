// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "device/device.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/error.h"
#include "base/testing.h"
#include "device/simulated/simulated.h"

namespace stoker {
namespace {

std::string message_of(int index) {
  return message<DeviceError>([&] { device(index); });
}

TEST(Devices, AreThoseThatACallAskedFor) {
  use_simulated_devices(2);
  ASSERT_EQ(devices().size(), 2u);
  EXPECT_EQ(&device(1), devices()[1]);
  EXPECT_EQ(device(1).name(), "simulated:1");
  EXPECT_EQ(device(1).kind(), "simulated");
  EXPECT_EQ(message_of(2), "there is no device 2. Devices: simulated:0, simulated:1");
  EXPECT_NE(message_of(-1), "nothing was thrown");
}

TEST(Devices, OfBeforeLiveOn) {
  use_simulated_devices(1);
  Device& old = device(0);
  auto stream = old.make_stream("old");
  use_simulated_devices(0);
  EXPECT_TRUE(devices().empty());
  stream->free(stream->allocate(10));
  stream->synchronize();
  EXPECT_EQ(old.name(), "simulated:0");
  EXPECT_NE(message_of(0).find("there is no device 0: "), std::string::npos);
  EXPECT_THROW(use_simulated_devices(-1), DeviceError);
}

// Runs in a process of its own, as the variable is read once.
void exit_with_count_for(const char* value) {
  setenv("STOKER_SIMULATED_DEVICES", value, 1);
  try {
    std::exit(static_cast<int>(devices().size()));
  } catch (const DeviceError& e) {
    std::fputs(e.what(), stderr);
    std::exit(100);
  }
}

TEST(DevicesDeathTest, FollowTheEnvironment) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(exit_with_count_for("3"), testing::ExitedWithCode(3), "");
  EXPECT_EXIT(exit_with_count_for(""), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(exit_with_count_for("two"), testing::ExitedWithCode(100),
              "a count from 0 to 64, got 'two'");
  EXPECT_EXIT(exit_with_count_for("-1"), testing::ExitedWithCode(100), "got '-1'");
  EXPECT_EXIT(exit_with_count_for("1x"), testing::ExitedWithCode(100), "got '1x'");
}

}  // namespace
}  // namespace stoker
