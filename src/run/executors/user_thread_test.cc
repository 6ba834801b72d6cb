// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/executors/user_thread.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace stoker {
namespace {

// Counts calls, and holds them back until open() is called.
class Counting final : public UserFunction {
 public:
  explicit Counting(bool is_open = true) : is_open_(is_open) {}
  std::vector<HostBatch> call(std::vector<HostBatch>, int64_t count) override {
    const MutexLock lock(mutex_);
    counts_.push_back(count);
    changed_.notify_all();
    changed_.wait(mutex_, [&]() STOKER_REQUIRES(mutex_) { return is_open_; });
    if (count < 0) throw SampleError("a negative count");
    return std::vector<HostBatch>(static_cast<size_t>(count));
  }
  void open() {
    const MutexLock lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }
  std::vector<int64_t> wait_for(size_t calls) {
    const MutexLock lock(mutex_);
    changed_.wait(mutex_, [&]() STOKER_REQUIRES(mutex_) { return counts_.size() >= calls; });
    return counts_;
  }

 private:
  Mutex mutex_;
  ConditionVariable changed_;
  bool is_open_ STOKER_GUARDED_BY(mutex_);
  std::vector<int64_t> counts_ STOKER_GUARDED_BY(mutex_);
};

std::shared_ptr<UserCall> call_of(const std::shared_ptr<UserFunction>& function, int64_t count) {
  auto call = std::make_shared<UserCall>();
  call->function = function;
  call->count = count;
  return call;
}

void wait_until(const std::function<bool()>& holds) {
  while (!holds()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST(UserThread, CallsInOrderAndTellsWhenEachIsOver) {
  const auto function = std::make_shared<Counting>();
  std::atomic<int> over{0};
  std::vector<std::shared_ptr<UserCall>> calls;
  UserThread thread([&] { ++over; });
  for (int64_t n = 0; n < 50; ++n) {
    calls.push_back(call_of(function, n));
    thread.begin(calls.back());
  }
  wait_until([&] { return over == 50; });
  const std::vector<int64_t> counts = function->wait_for(50);
  for (size_t n = 0; n < 50; ++n) {
    EXPECT_EQ(counts[n], static_cast<int64_t>(n));
    EXPECT_TRUE(calls[n]->is_over);
    EXPECT_EQ(calls[n]->outputs.size(), n);
  }
}

TEST(UserThread, KeepsWhatACallThrows) {
  std::atomic<int> over{0};
  const auto call = call_of(std::make_shared<Counting>(), -1);
  UserThread thread([&] { ++over; });
  thread.begin(call);
  wait_until([&] { return over == 1; });
  EXPECT_THROW(std::rethrow_exception(call->error), SampleError);
}

TEST(UserThread, EndsWithoutTheCallsThatDidNotBegin) {
  const auto function = std::make_shared<Counting>(false);
  std::atomic<int> over{0};
  const auto first = call_of(function, 1), second = call_of(function, 2);
  {
    UserThread thread([&] { ++over; });
    thread.begin(first);
    thread.begin(second);
    (void)function->wait_for(1);
  }  // the first call still runs
  EXPECT_EQ(second.use_count(), 1);
  function->open();
  wait_until([&] { return first->is_over.load(); });
  EXPECT_EQ(over, 0) << "nobody is there to be told";
  EXPECT_FALSE(second->is_over);
}

// Ends its thread in the middle of a call.
class Ending final : public UserFunction {
 public:
  std::vector<HostBatch> call(std::vector<HostBatch>, int64_t) override {
    std::exchange(thread, nullptr).reset();
    return {};
  }
  std::unique_ptr<UserThread> thread;
};

TEST(UserThread, MayEndInACallOfItsOwn) {
  const auto function = std::make_shared<Ending>();
  std::atomic<int> over{0};
  const auto call = call_of(function, 1);
  function->thread = std::make_unique<UserThread>([&] { ++over; });
  function->thread->begin(call);
  wait_until([&] { return call->is_over.load(); });
  EXPECT_FALSE(function->thread);
  EXPECT_EQ(over, 0) << "nobody is there to be told";
}

}  // namespace
}  // namespace stoker
