// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "io/fetch.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/testing.h"
#include "io/faults.h"
#include "io/fetch_testing.h"
#include "memory/pool.h"

namespace stoker::io {
namespace {

TEST_F(FetchTest, GivesEverySampleItsBytes) {
  for (int threads : {0, 1, 3})
    for (size_t limit : {size_t{0}, size_t{9000}, size_t{40000}, size_t{10000000}}) {
      Fetcher f(threads, limit, files_, pool_, by_turn);
      f.schedule(200);
      for (int64_t turn = 0; turn < 220; ++turn) expect_content(*f.take(turn), turn);
      EXPECT_LE(f.stats().high_water, limit);
      EXPECT_EQ(f.stats().held, 0u);
      EXPECT_EQ(f.stats().ahead + f.stats().on_the_spot, 220);
    }
}

TEST_F(FetchTest, ReadsAheadAsFarAsTheWindowHolds) {
  constexpr size_t kWindow = 60000, kLargest = 10000;
  Fetcher f(2, kWindow, files_, pool_, by_turn);
  f.schedule(INT64_MAX);
  const auto full = [&] { return f.stats().held > kWindow - kLargest - Fetcher::kEntryCost; };
  wait_until(full);
  const int64_t before = f.stats().ahead;
  for (int64_t turn = 0; turn < 4; ++turn) expect_content(*f.take(turn), turn);
  wait_until([&] { return f.stats().ahead > before; });
  wait_until(full);
  EXPECT_LE(f.stats().high_water, kWindow);
}

TEST_F(FetchTest, ReadsNothingThatIsNotScheduled) {
  Fetcher f(2, 1 << 20, files_, pool_, by_turn);
  f.schedule(3);
  wait_until([&] { return f.stats().ahead == 3; });
  expect_content(*f.take(3), 3);
  f.schedule(5);
  wait_until([&] { return f.stats().ahead == 4; });
  for (int64_t turn : {0, 1, 2, 4}) expect_content(*f.take(turn), turn);
  EXPECT_EQ(f.stats().on_the_spot, 1);
}

struct GateOnPath : FaultInjector {
  explicit GateOnPath(std::string path) : path(std::move(path)) {}
  int on_open(const std::string& p) override {
    ++opened;
    if (p == path) gate.pass();
    return 0;
  }
  const std::string path;
  Gate gate;
  std::atomic<int> opened{0};
};

// The only thread is stuck at file 0. Taking file 1 must not wait for it.
TEST_F(FetchTest, TakingWhatNobodyBeganNeverWaits) {
  GateOnPath slow(path(0));
  const WithFaults with(slow);
  Fetcher f(1, 1 << 20, files_, pool_, by_turn);
  f.schedule(10);
  slow.gate.wait_for_arrivals(1);
  expect_content(*f.take(1), 1);
  expect_content(*f.take(9), 9);
  slow.gate.open();
  expect_content(*f.take(0), 0);
}

TEST_F(FetchTest, TakingWhatIsBeingReadWaitsForIt) {
  GateOnPath slow(path(2));
  const WithFaults with(slow);
  Fetcher f(2, 1 << 20, files_, pool_, by_turn);
  f.schedule(6);
  slow.gate.wait_for_arrivals(1);
  auto taken = std::async(std::launch::async, [&] { return f.take(2); });
  for (int64_t turn : {0, 1, 3, 4, 5}) expect_content(*f.take(turn), turn);
  wait_until([&] { return f.stats().waits >= 1; });
  slow.gate.open();
  expect_content(*taken.get(), 2);
}

TEST_F(FetchTest, FilesLargerThanTheLimitAreTaken) {
  std::ofstream(path(2), std::ios::binary) << std::string(100000, 'x');
  Fetcher f(2, 30000, files_, pool_, by_turn);
  f.schedule(20);
  for (int64_t turn = 0; turn < 20; ++turn) {
    const Fetched taken = *f.take(turn);
    const ByteBuffer& b = taken.bytes;
    EXPECT_EQ(b.size(), turn == 2 ? 100000u : size_of(turn));
  }
  EXPECT_LE(f.stats().high_water, 30000u);
  EXPECT_GE(f.stats().on_the_spot, 1);
}

TEST_F(FetchTest, AdmitIsToldTheSizeBeforeItIsRead) {
  struct Refused {};
  for (const size_t limit : {size_t{1}, size_t{1} << 20}) {
    Fetcher f(1, limit, files_, pool_, by_turn);
    f.schedule(2);
    std::vector<size_t> sizes;
    const auto admit = [&](size_t bytes) { sizes.push_back(bytes); };
    expect_content(*f.take(0, admit), 0);
    EXPECT_EQ(sizes, std::vector<size_t>{content(0).size()});
    EXPECT_THROW((void)f.take(1, [](size_t) { throw Refused{}; }), Refused);
    EXPECT_FALSE(f.take(1));
    EXPECT_THROW((void)f.take(7, [](size_t) { throw Refused{}; }), Refused);
  }
}

TEST_F(FetchTest, ErrorsWaitForTheirSample) {
  std::filesystem::remove(path(3));
  std::filesystem::remove(path(12));
  Fetcher f(2, 1 << 20, files_, pool_, by_turn);
  f.schedule(10);
  wait_until([&] { return f.stats().ahead == 10; });
  for (int64_t turn = 0; turn < 15; ++turn) {
    if (turn == 3 || turn == 12)
      EXPECT_EQ(error_of(f, turn), "cannot open '" + path(turn) + "': No such file or directory");
    else expect_content(*f.take(turn), turn);
  }
  EXPECT_EQ(f.stats().held, 0u);
}

TEST_F(FetchTest, WhatLocateThrowsIsThrown) {
  const Places places([&](int64_t turn) -> Extent {
    if (turn % 2) throw SampleError("no place for " + std::to_string(turn));
    return {path(turn)};
  });
  Fetcher f(1, 1 << 20, places, pool_, by_turn);
  f.schedule(2);
  wait_until([&] { return f.stats().ahead == 2; });
  expect_content(*f.take(0), 0);
  EXPECT_EQ(error_of(f, 1), "no place for 1");
  EXPECT_EQ(error_of(f, 3), "no place for 3");
}

TEST_F(FetchTest, EmptyFilesAreNotReadAheadWithoutEnd) {
  std::ofstream(root_ + "/empty").close();
  const Places places([&](int64_t) { return Extent{root_ + "/empty"}; });
  Fetcher f(2, 10 * Fetcher::kEntryCost, places, pool_, by_turn);
  f.schedule(INT64_MAX);
  wait_until([&] { return f.stats().ahead == 10; });
  EXPECT_EQ(f.stats().held, 10 * Fetcher::kEntryCost);
  for (int64_t turn = 0; turn < 3; ++turn) EXPECT_EQ(f.take(turn)->size(), 0u);
  wait_until([&] { return f.stats().ahead == 13; });  // a quarter was free
}

TEST_F(FetchTest, PartsOfOpenFiles) {
  const auto file = open(path(7));
  const Places places([&](int64_t turn) { return Extent{"", turn * 10, 10, file}; });
  Fetcher f(2, 1 << 20, places, pool_, by_turn);
  f.schedule(20);
  for (int64_t turn = 0; turn < 30; ++turn) {
    const Fetched taken = *f.take(turn);
    const ByteBuffer& b = taken.bytes;
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(b.data()), b.size()),
              content(7).substr(static_cast<size_t>(turn) * 10, 10));
  }
  EXPECT_NE(error_of(f, 1000).find("it ends after 0 of 10 bytes"), std::string::npos);
}

TEST_F(FetchTest, EachSampleOnce) {
  Fetcher f(1, 1 << 20, files_, pool_, by_turn);
  f.schedule(4);
  wait_until([&] { return f.stats().ahead == 4; });
  for (int64_t turn : {1, 6}) {
    EXPECT_TRUE(f.take(turn));
    EXPECT_FALSE(f.take(turn));
  }
  for (int64_t turn : {0, 2, 3, 4, 5, 7, 8, 9}) expect_content(*f.take(turn), turn);
  EXPECT_EQ(f.stats().held, 0u);
}

// These two tests fail by never ending.
TEST_F(FetchTest, EndsWithoutReadingOn) {
  auto f = std::make_unique<Fetcher>(2, size_t{1} << 40, files_, pool_, by_turn);
  f->schedule(INT64_MAX);
  wait_until([&] { return f->stats().ahead > 5; });
  f.reset();
}

TEST_F(FetchTest, EndsWithIdleThreadsAndNothingScheduled) {
  for (int i = 0; i < 50; ++i) {
    Fetcher f(4, 1 << 20, files_, pool_, by_turn);
    if (i % 2) f.schedule(i);
  }
}

TEST_F(FetchTest, BytesOutliveTheFetcher) {
  ByteBuffer kept;
  {
    Fetcher f(1, 1 << 20, files_, pool_, by_turn);
    f.schedule(5);
    kept = std::move(f.take(4)->bytes);
  }
  expect_content(kept, 4);
}

TEST_F(FetchTest, BuffersGoRound) {
  struct Counted : HostAllocator {
    std::atomic<int> taken{0};
    std::byte* take(size_t bytes) override { return ++taken, system_allocator()->take(bytes); }
    void give_back(std::byte* allocation, size_t bytes) noexcept override {
      system_allocator()->give_back(allocation, bytes);
    }
  };
  const auto allocator = std::make_shared<Counted>();
  HostPool pool(SIZE_MAX, allocator);
  Fetcher f(1, 1 << 20, files_, pool, by_turn);
  int64_t turn = 0;
  for (int round = 0; round < 6; ++round) {
    std::vector<ByteBuffer> held;
    while (held.size() < kFiles) held.push_back(std::move(f.take(turn++)->bytes));
  }
  EXPECT_LE(allocator->taken, kFiles * 5 / 4);
}

// Many threads take samples almost in order, while reads are slow, short or fail.
TEST_F(FetchTest, ManyThreadsUnderFaults) {
  struct Trouble : FaultInjector {
    std::atomic<uint32_t> calls{0};
    int on_open(const std::string& p) override { return p.ends_with("/13") ? EACCES : 0; }
    int on_read(const std::string& p, int64_t, size_t& count) override {
      const uint32_t n = ++calls;
      if (n % 7 == 0) return EINTR;
      if (n % 5 == 0) std::this_thread::yield();
      if (n % 3 == 0) count = std::min<size_t>(count, 700);
      return p.ends_with("/17") ? EIO : 0;
    }
  } trouble;
  const WithFaults with(trouble);
  constexpr int64_t kSamples = 2000;
  constexpr size_t kWindow = 50000;
  Fetcher f(3, kWindow, files_, pool_, by_turn);
  std::atomic<int64_t> next{0}, bytes{0}, failed{0};
  const auto taker = [&] {
    for (int64_t n = next++; n < kSamples; n = next++) {
      f.schedule(n + 30);
      const int64_t turn = n ^ 3;  // not quite in order
      try {
        const Fetched taken = *f.take(turn);
        const ByteBuffer& b = taken.bytes;
        bytes += static_cast<int64_t>(b.size());
        if (b.data()[b.size() - 1] != static_cast<std::byte>(content(turn % kFiles).back()))
          ADD_FAILURE() << turn;
      } catch (const SampleError&) {
        ++failed;
      }
    }
  };
  std::vector<std::thread> takers;
  for (int i = 0; i < 4; ++i) takers.emplace_back(taker);
  for (std::thread& t : takers) t.join();
  int64_t want_bytes = 0, want_failed = 0;
  for (int64_t turn = 0; turn < kSamples; ++turn) {
    const int64_t file = turn % kFiles;
    if (file == 13 || file == 17) ++want_failed;
    else want_bytes += static_cast<int64_t>(size_of(file));
  }
  EXPECT_EQ(bytes, want_bytes);
  EXPECT_EQ(failed, want_failed);
  EXPECT_LE(f.stats().high_water, kWindow);
}

// Extents.

TEST_F(FetchTest, NeighboursAreReadAtOnce) {
  struct Counts : FaultInjector {
    int on_read(const std::string&, int64_t, size_t&) override { return ++reads, 0; }
    std::atomic<int> reads{0};
  } counts;
  std::ofstream(path(0), std::ios::binary) << std::string(100, 'a') << std::string(100, 'b')
                                           << std::string(100000, 'c') << std::string(50, 'd');
  const WithFaults with(counts);
  const auto file = open(path(0));
  const OpenExtents extents({{"", 100200, 50, file},
                             {"", 100, 100, file},
                             {"", 0, 7, file},
                             {path(1)},
                             {"", 150, 0, file}});
  ByteBuffer buffer;
  std::vector<Part> parts;
  extents.read(buffer, parts);
  EXPECT_EQ(counts.reads, 3);  // the end, the two near the beginning, the other file
  const auto text = [&](size_t i) { return std::string(parts.at(i).begin(), parts.at(i).end()); };
  EXPECT_EQ(text(0), std::string(50, 'd'));
  EXPECT_EQ(text(1), std::string(100, 'b'));
  EXPECT_EQ(text(2), "aaaaaaa");
  EXPECT_EQ(text(3), content(1));
  EXPECT_EQ(text(4), "");
  EXPECT_GE(extents.size(), buffer.size());
}

TEST_F(FetchTest, ExtentsBehindTheEndAreRefused) {
  const OpenExtents extents({{path(0), 0, 10}, {path(0), 5000, 10}});
  ByteBuffer buffer;
  std::vector<Part> parts;
  EXPECT_NE(
      message<SampleError>([&] { extents.read(buffer, parts); }).find(path(0) + "' at byte 1000"),
      std::string::npos);
}

// Indexes may hold any places.
TEST_F(FetchTest, ImpossibleExtentsAreRefused) {
  const auto file = open(path(0));
  const auto opened = [&](int64_t offset, int64_t length) {
    return message<SampleError>(
        [&] { (void)OpenExtents({{"", 512, 100, file}, {"", offset, length, file}}); });
  };
  for (const auto& [offset, length] : std::vector<std::pair<int64_t, int64_t>>{
           {1024, INT64_MAX}, {INT64_MAX, 1}, {-1, 5}, {5, -2}, {INT64_MIN, INT64_MAX}})
    EXPECT_NE(opened(offset, length).find(path(0)), std::string::npos) << offset << " " << length;
  // What is possible but not there costs no memory.
  const OpenExtents far(
      {{"", 0, 10, file}, {"", 512, INT64_MAX - 512, file}, {"", 1 << 20, 5, file}});
  EXPECT_LE(far.size(), 2000u);
  ByteBuffer buffer;
  std::vector<Part> parts;
  EXPECT_NE(message<SampleError>([&] { far.read(buffer, parts); }).find(path(0)),
            std::string::npos);
}

TEST_F(FetchTest, StoresReadByThemselves) {
  struct Own final : ByteStore {
    Place place(int64_t index) const override { return Place::itself(static_cast<size_t>(index)); }
    void fetch(int64_t index, ByteBuffer& into, std::vector<size_t>& ends) const override {
      const auto n = static_cast<size_t>(index);
      into.reserve(n);
      std::fill_n(into.data(), n, std::byte{7});
      into.resize(n);
      ends = {0, n / 2, n};
    }
  };
  for (const int threads : {0, 2}) {
    const Own store;
    Fetcher f(threads, 50000, store, pool_, by_turn);
    f.schedule(100);
    for (int64_t turn = 0; turn < 100; ++turn) {
      const Fetched taken = *f.take(turn);
      ASSERT_EQ(taken.parts.size(), 3u);
      EXPECT_EQ(taken.parts[1].size() + taken.parts[2].size(), static_cast<size_t>(turn));
      if (turn) {
        EXPECT_EQ(taken.parts[2].back(), 7);
      }
    }
    EXPECT_LE(f.stats().high_water, 50000u);
  }
}

}  // namespace
}  // namespace stoker::io
