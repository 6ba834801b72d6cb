// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What tests of the Fetcher share: files that it reads, and threads that wait at a gate.
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "base/error.h"
#include "base/mutex.h"
#include "base/testing.h"
#include "io/fetch.h"
#include "memory/pool.h"

namespace stoker::io {

constexpr int64_t kFiles = 50;

class Gate {
 public:
  void pass() {
    MutexLock lock(mutex_);
    ++arrived_;
    changed_.notify_all();
    changed_.wait(mutex_, [&]() STOKER_REQUIRES(mutex_) { return open_; });
  }
  void open() {
    const MutexLock lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void wait_for_arrivals(int n) {
    MutexLock lock(mutex_);
    changed_.wait(mutex_, [&]() STOKER_REQUIRES(mutex_) { return arrived_ >= n; });
  }

 private:
  Mutex mutex_;
  ConditionVariable changed_;
  bool open_ STOKER_GUARDED_BY(mutex_) = false;
  int arrived_ STOKER_GUARDED_BY(mutex_) = 0;
};

// Tells where the sample of each index lies.
class Places final : public ByteStore {
 public:
  using Locate = std::function<Extent(int64_t index)>;
  explicit Places(Locate locate) : locate_(std::move(locate)) {}
  Place place(int64_t index) const override { return Place::at(locate_(index)); }

 private:
  const Locate locate_;
};
inline int64_t by_turn(int64_t turn) { return turn; }

class FetchTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/stoker_fetch_XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    root_ = name;
    for (int64_t i = 0; i < kFiles; ++i) std::ofstream(path(i), std::ios::binary) << content(i);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  std::string path(int64_t i) const { return root_ + "/" + std::to_string(i); }
  static size_t size_of(int64_t i) { return static_cast<size_t>(1000 + (i * 7919) % 9000); }
  static std::string content(int64_t i) {
    std::string s(size_of(i), 0);
    for (size_t k = 0; k < s.size(); ++k) s[k] = static_cast<char>(k * 31 + static_cast<size_t>(i));
    return s;
  }
  HostPool pool_;
  const Places files_{[this](int64_t turn) { return Extent{path(turn % kFiles)}; }};
  static void expect_content(const Fetched& f, int64_t turn) { expect_content(f.bytes, turn); }
  static void expect_content(const ByteBuffer& b, int64_t turn) {
    ASSERT_EQ(b.size(), size_of(turn % kFiles));
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(b.data()), b.size()),
              content(turn % kFiles))
        << turn;
    for (size_t i = 0; i < kReadPadding; ++i) ASSERT_EQ(b.data()[b.size() + i], std::byte{0});
  }
  static std::string error_of(Fetcher& f, int64_t turn) {
    return message<Error>([&] { (void)f.take(turn); });
  }
  // Waits for a state that the threads must reach; else the test ends by its time limit.
  template <class F>
  static void wait_until(F condition) {
    while (!condition()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  std::string root_;
};

}  // namespace stoker::io
