// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "io/faults.h"
#include "io/fetch_testing.h"

namespace stoker::io {
namespace {

// Sample i is in block i / kEach, and is its number in it.
constexpr int64_t kEach = 4;

struct Numbers final : Block {
  explicit Numbers(int64_t first) : bytes(1000) {
    for (int64_t i = 0; i < kEach; ++i)
      bytes[static_cast<size_t>(i)] = static_cast<uint8_t>(first + i);
  }
  std::vector<uint8_t> bytes;
};

class BlockStore final : public ByteStore {
 public:
  Place place(int64_t index) const override { return Place::in_block(index / kEach); }
  size_t block_bytes(int64_t) const override { return 1000; }
  std::shared_ptr<const Block> load(int64_t block) const override {
    if (block == slow) gate.pass();
    ++loads;
    if (block == broken) throw SampleError("block " + std::to_string(block) + " is broken");
    return std::make_shared<const Numbers>(block * kEach);
  }
  void find(int64_t index, const Block& block, std::vector<Part>& parts) const override {
    const auto& numbers = static_cast<const Numbers&>(block).bytes;
    parts.push_back(Part(numbers).subspan(static_cast<size_t>(index % kEach), 1));
  }
  int64_t slow = -1, broken = -1;
  mutable Gate gate;
  mutable std::atomic<int> loads{0};
};
int64_t number_in(const Fetched& f) { return f.parts.at(0)[0]; }

TEST_F(FetchTest, BlocksAreLoadedOnceInOrder) {
  for (const int threads : {0, 1, 3}) {
    const BlockStore store;
    Fetcher f(threads, 100000, store, pool_, by_turn);
    f.schedule(200);
    for (int64_t turn = 0; turn < 200; ++turn) EXPECT_EQ(number_in(*f.take(turn)), turn);
    EXPECT_EQ(store.loads, 50);
    EXPECT_LE(f.stats().high_water, 100000u);
    EXPECT_EQ(number_in(f.take_again(7)), 7);
  }
}

// What counts for samples without bytes may come on top of the limit.
TEST_F(FetchTest, BlocksStayWithinTheLimit) {
  for (const int threads : {0, 1, 3})
    for (const size_t limit : {size_t{1000}, size_t{9000}, size_t{20000}}) {
      const BlockStore store;
      Fetcher f(threads, limit, store, pool_, by_turn);
      f.schedule(200);
      for (int64_t turn = 0; turn < 200; ++turn) EXPECT_EQ(number_in(*f.take(turn)), turn);
      EXPECT_LE(f.stats().high_water, limit + 1000);
      EXPECT_LE(store.loads, 100) << limit;
    }
}

TEST_F(FetchTest, BlocksLargerThanTheLimitAreToldToAdmit) {
  const BlockStore store;
  Fetcher f(1, 999, store, pool_, by_turn);
  f.schedule(20);
  size_t told = 0;
  for (int64_t turn = 0; turn < 20; ++turn)
    EXPECT_EQ(number_in(*f.take(turn, [&](size_t bytes) { told += bytes; })), turn);
  EXPECT_EQ(told, 20000u);
  EXPECT_EQ(store.loads, 20);
}

TEST_F(FetchTest, BlocksThatFailFailTheirSamples) {
  for (const int threads : {0, 2}) {
    BlockStore store;
    store.broken = 3;
    Fetcher f(threads, 100000, store, pool_, by_turn);
    f.schedule(40);
    for (int64_t turn = 0; turn < 40; ++turn) {
      if (turn / kEach == 3) EXPECT_EQ(error_of(f, turn), "block 3 is broken");
      else EXPECT_EQ(number_in(*f.take(turn)), turn);
    }
  }
}

// There is room for one block. Whoever needs another waits until the first is given back.
TEST_F(FetchTest, ABlockInUseIsWaitedFor) {
  const BlockStore store;
  Fetcher f(0, 1000, store, pool_, by_turn);
  f.schedule(40);
  std::optional<Fetched> first = f.take(0);
  auto second = std::async(std::launch::async, [&] { return number_in(*f.take(9)); });
  wait_until([&] { return f.stats().waits == 1; });
  EXPECT_EQ(store.loads, 1);
  first.reset();
  EXPECT_EQ(second.get(), 9);
  EXPECT_EQ(store.loads, 2);
}

TEST_F(FetchTest, ABlockThatIsBeingLoadedIsWaitedFor) {
  BlockStore store;
  store.slow = 1;
  Fetcher f(2, 100000, store, pool_, by_turn);
  f.schedule(40);
  store.gate.wait_for_arrivals(1);
  EXPECT_EQ(number_in(*f.take(0)), 0);
  auto taken = std::async(std::launch::async, [&] { return number_in(*f.take(5)); });
  EXPECT_EQ(number_in(*f.take(8)), 8);
  wait_until([&] { return f.stats().waits >= 1; });
  store.gate.open();
  EXPECT_EQ(taken.get(), 5);
}

// A sample that is being read counts until it is there, and is dropped then.
TEST_F(FetchTest, ABlockWaitsForRunningReads) {
  struct Mixed final : ByteStore {
    explicit Mixed(std::string p) : path(std::move(p)) {}
    Place place(int64_t index) const override {
      return index == 0 ? Place::at(Extent{path}) : Place::in_block(0);
    }
    size_t block_bytes(int64_t) const override { return 100000; }
    std::shared_ptr<const Block> load(int64_t) const override {
      ++loads;
      return std::make_shared<const Numbers>(0);
    }
    void find(int64_t index, const Block& block, std::vector<Part>& parts) const override {
      parts.push_back(
          Part(static_cast<const Numbers&>(block).bytes).subspan(static_cast<size_t>(index), 1));
    }
    const std::string path;
    mutable std::atomic<int> loads{0};
  };
  struct GateOnRead : FaultInjector {
    int on_read(const std::string&, int64_t, size_t&) override { return gate.pass(), 0; }
    Gate gate;
  } slow;
  std::ofstream(path(0), std::ios::binary) << std::string(100000, 'x');
  const WithFaults with(slow);
  const Mixed store(path(0));
  constexpr size_t kLimit = 150000;
  Fetcher f(1, kLimit, store, pool_, by_turn);
  f.schedule(1);
  slow.gate.wait_for_arrivals(1);
  auto taken = std::async(std::launch::async, [&] { return number_in(*f.take(1)); });
  wait_until([&] { return f.stats().waits > 0 || store.loads > 0; });
  EXPECT_EQ(store.loads, 0);
  slow.gate.open();
  EXPECT_EQ(taken.get(), 1);
  EXPECT_EQ(f.take(0)->bytes.size(), 100000u);
  EXPECT_LE(f.stats().high_water, kLimit + Fetcher::kEntryCost);
}

TEST_F(FetchTest, ManyThreadsTakeBlocks) {
  const BlockStore store;
  constexpr int64_t kSamples = 4000;
  Fetcher f(3, 30000, store, pool_, [](int64_t turn) { return turn % 100; });
  f.schedule(INT64_MAX);
  std::atomic<int64_t> next{0}, wrong{0};
  const auto taker = [&] {
    for (int64_t n = next++; n < kSamples; n = next++) wrong += number_in(*f.take(n)) != n % 100;
  };
  std::vector<std::thread> takers;
  for (int i = 0; i < 4; ++i) takers.emplace_back(taker);
  for (std::thread& t : takers) t.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace stoker::io
