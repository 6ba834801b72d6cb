// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "io/order/order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/testing.h"
#include "io/order/order_testing.h"

namespace stoker::io {
namespace {

// The samples of one shard's first steps, counted from 1.
std::vector<Indices> batches(const OrderSpec& s, int shard, int steps) {
  const Order o = shard_of(s, shard);
  std::vector<Indices> all;
  int64_t cursor = 0;
  for (int n = 0; n < steps; ++n, cursor = o.next(cursor)) {
    all.emplace_back();
    for (const SampleRef& p : step(o, cursor)) all.back().push_back(p.index + 1);
  }
  return all;
}
template <class F>
void for_small_cases(F f) {
  for (int64_t n = 1; n <= 12; ++n)
    for (int shards = 1; shards <= 5; ++shards)
      for (int64_t batch = 1; batch <= 4; ++batch) {
        SCOPED_TRACE("size " + std::to_string(n) + " shards " + std::to_string(shards) + " batch " +
                     std::to_string(batch));
        f(n, shards, batch);
        if (testing::Test::HasFailure()) return;
      }
}

// No (epoch, position) may come twice, and each has one index.
struct Ledger {
  std::map<std::pair<int64_t, int64_t>, int64_t> index_at;
  std::map<int64_t, std::multiset<int64_t>> read;  // epoch -> indices

  void add(const SampleRef& p) {
    if (p.repeat) return;
    EXPECT_TRUE(index_at.emplace(std::pair(p.epoch, p.position), p.index).second)
        << "epoch " << p.epoch << " position " << p.position << " came twice";
    read[p.epoch].insert(p.index);
  }
  void expect_whole(int64_t epoch, int64_t size) {
    EXPECT_EQ(read[epoch].size(), static_cast<size_t>(size));
    for (int64_t i = 0; i < size; ++i)
      EXPECT_EQ(read[epoch].count(i), 1u) << "epoch " << epoch << " index " << i;
  }
};

TEST(Order, DealingContinueReadsEverySampleOnceAnEpoch) {
  for_small_cases([](int64_t n, int shards, int64_t batch) {
    Ledger ledger;
    int64_t cursor = 0;
    for (const SampleRef& p : job(spec(n, batch, shards), cursor, 4)) {
      EXPECT_FALSE(p.repeat);
      ledger.add(p);
    }
    for (int64_t e = 0; e < 4; ++e) ledger.expect_whole(e, n);
  });
}

TEST(Order, DealingPadReadsEverySampleOnceAndRepeatsTheLast) {
  for_small_cases([](int64_t n, int shards, int64_t batch) {
    Ledger ledger;
    int64_t cursor = 0;
    const std::vector<SampleRef> places = job(spec(n, batch, shards, End::kPad), cursor, 3);
    const int64_t stride = batch * shards, steps = (n + stride - 1) / stride;
    EXPECT_EQ(cursor, 3 * n);
    EXPECT_EQ(places.size(), static_cast<size_t>(3 * steps * stride));
    for (const SampleRef& p : places) ledger.add(p);
    for (int64_t e = 0; e < 3; ++e) ledger.expect_whole(e, n);
    for (const SampleRef& p : places)
      if (p.repeat) {
        EXPECT_EQ(p.index, (ledger.index_at[{p.epoch, p.position}]));
      }
  });
}

TEST(Order, DealingDropReadsWholeStepsOnly) {
  for_small_cases([](int64_t n, int shards, int64_t batch) {
    const OrderSpec s = spec(n, batch, shards, End::kDrop);
    const int64_t stride = batch * shards, steps = n / stride;
    if (steps == 0) {
      EXPECT_THROW(Order{s}, GraphError);
      return;
    }
    Ledger ledger;
    int64_t cursor = 0;
    for (const SampleRef& p : job(s, cursor, 3)) {
      EXPECT_FALSE(p.repeat);
      ledger.add(p);
    }
    EXPECT_EQ(cursor, 3 * n);
    for (int64_t e = 0; e < 3; ++e)
      for (int64_t position = 0; position < n; ++position)
        EXPECT_EQ(ledger.index_at.count({e, position}), position < steps * stride ? 1u : 0u);
  });
}

// Jobs that stop and go on with other batch sizes and shard counts read each sample once an epoch.
TEST(Order, DealingIsElastic) {
  for (int64_t n : {1, 2, 7, 12})
    for (End end : {End::kContinue, End::kPad, End::kDrop})
      for_small_cases([&](int64_t, int shards, int64_t batch) {
        const OrderSpec before = spec(n, 2, 2, end), after = spec(n, batch, shards, end);
        if (end == End::kDrop && n < std::max<int64_t>(4, batch * shards)) return;
        const Order first(before);
        Ledger started;
        for (int64_t cursor = 0; cursor < 2 * n; cursor = first.next(cursor)) {
          Ledger ledger = started;
          int64_t resumed = cursor;
          for (const SampleRef& p : job(after, resumed, 4)) ledger.add(p);
          for (int64_t e = 0; end != End::kDrop && e < 4; ++e) ledger.expect_whole(e, n);
          for (int shard = 0; shard < 2; ++shard)
            for (const SampleRef& p : step(shard_of(before, shard), cursor)) started.add(p);
        }
      });
}

TEST(Order, DealingGivesTheSameStreamAtEveryCursor) {
  for (int64_t n : {1, 3, 8, 12, 100}) {
    const Order one(spec(n, 1, 1));
    for (int64_t cursor = 0; cursor < 3 * n; ++cursor) {
      std::set<std::pair<int64_t, int64_t>> dealt, stream;
      for (int shard = 0; shard < 3; ++shard)
        for (int64_t i = 0; i < 4; ++i) {
          const SampleRef a = shard_of(spec(n, 4, 3), shard).at(cursor, i),
                          b = one.at(cursor + shard * 4 + i, 0);
          dealt.emplace(a.epoch, a.position);
          stream.emplace(b.epoch, b.position);
          if (cursor % n + 12 <= n) {
            EXPECT_EQ(a, b);
          }
        }
      EXPECT_EQ(dealt, stream);
    }
  }
}

// How many samples of an epoch the shard reads in the first steps.
int64_t count_of_epoch(const Order& o, int64_t epoch, int steps) {
  int64_t count = 0, cursor = 0;
  for (int k = 0; k < steps; ++k, cursor = o.next(cursor))
    for (const SampleRef& p : step(o, cursor)) count += p.epoch == epoch && !p.repeat;
  return count;
}

TEST(Order, DealingCutsAnEpochAsContiguousShardsDo) {
  for (int64_t n : {5, 7, 8, 31})
    for (int shards : {2, 3, 5})
      for (int64_t batch : {1, 2, 3, 16})
        for (End end : {End::kContinue, End::kPad})
          for (int shard = 0; shard < shards; ++shard) {
            const int64_t expected = (shard + 1) * n / shards - shard * n / shards;
            for (bool shuffle : {true, false})
              EXPECT_EQ(
                  count_of_epoch(shard_of(spec(n, batch, shards, end, shuffle), shard), 0, 40),
                  expected)
                  << n << " samples, shard " << shard << " of " << shards << ", batch " << batch;
          }
}

TEST(Order, DealingGivesAShardAsManySamplesOfEveryEpochAsContiguousShardsHave) {
  for (int64_t n : {5, 7, 8, 31})
    for (int shards : {2, 3, 5})
      for (int64_t batch : {1, 2, 3, 16})
        for (End end : {End::kContinue, End::kPad}) {
          if (end == End::kContinue && shards > 2) continue;
          for (int shard = 0; shard < shards; ++shard)
            for (int64_t epoch = 0; epoch < 7; ++epoch) {
              const OrderSpec dealt = spec(n, batch, shards, end);
              EXPECT_EQ(
                  count_of_epoch(shard_of(dealt, shard), epoch, 240),
                  count_of_epoch(shard_of(spec(n, batch, shards, end, false), shard), epoch, 240))
                  << n << " samples, shard " << shard << " of " << shards << ", batch " << batch
                  << ", epoch " << epoch;
              OrderSpec same = dealt;
              same.same_share = true;
              if (end == End::kPad) {
                EXPECT_EQ(count_of_epoch(shard_of(same, shard), epoch, 240),
                          count_of_epoch(shard_of(same, shard), 0, 240));
              }
            }
        }
}

TEST(Order, DealingStaysEvenOverEpochs) {
  for (int64_t n : {5, 7, 11})
    for (int64_t batch : {1, 4, 40}) {
      std::vector<int64_t> read(5);
      for (int64_t epoch = 0; epoch < 6; ++epoch) {
        for (int shard = 0; shard < 5; ++shard)
          read[shard] += count_of_epoch(shard_of(spec(n, batch, 5), shard), epoch, 80);
        EXPECT_LE(*std::max_element(read.begin(), read.end()),
                  *std::min_element(read.begin(), read.end()) + 1);
      }
    }
}

// A share that is padded repeats its own last sample.
TEST(Order, SevenShuffledSamplesOnTwoShards) {
  const auto positions = [](End end, int shard) {
    Indices all;
    const Order o = shard_of(spec(7, 2, 2, end), shard);
    for (const int64_t cursor : {0, 4})
      for (const SampleRef& p : step(o, cursor)) all.push_back(p.position);
    return all;
  };
  EXPECT_EQ(positions(End::kContinue, 0), (Indices{0, 1, 4, 0}));
  EXPECT_EQ(positions(End::kContinue, 1), (Indices{2, 3, 5, 6}));
  EXPECT_EQ(positions(End::kPad, 0), (Indices{0, 1, 4, 4}));
  EXPECT_EQ(positions(End::kPad, 1), (Indices{2, 3, 5, 6}));
}

// A state saved with small batches may be where a larger step does not fit any more.
TEST(Order, DropSkipsARestTooShortForAStep) {
  const Order o(spec(10, 4, 1, End::kDrop));
  EXPECT_EQ(o.steps_left(0), 2);
  EXPECT_EQ(o.next(4), 10);
  EXPECT_EQ(o.epoch_of(7), 1);
  EXPECT_EQ(o.at(7, 0), o.at(10, 0));
  EXPECT_EQ(o.next(7), 14);
  EXPECT_EQ(o.steps_left(7), 2);
  EXPECT_EQ(o.steps_left(6), 1);
  EXPECT_TRUE(o.ends_epoch(6));
}

TEST(Order, EpochEndsAreSeen) {
  for (End end : {End::kContinue, End::kPad, End::kDrop})
    for (bool shuffle : {true, false})
      for (bool stick : {true, false})
        for_small_cases([&](int64_t n, int shards, int64_t batch) {
          if (n < shards || (end == End::kDrop && n < batch * shards)) return;
          for (int shard = 0; shard < shards; ++shard) {
            const Order o = shard_of(spec(n, batch, shards, end, shuffle, stick), shard);
            int64_t cursor = 0;
            for (int count = 0; count < 20; ++count) {
              const int64_t next = o.next(cursor), left = o.steps_left(cursor);
              EXPECT_EQ(o.after(0, count), cursor);
              if (shard == shards - 1 || o.contiguous() || end != End::kContinue) {
                EXPECT_EQ(o.at(cursor, 0).epoch, o.epoch_of(cursor));
              }
              EXPECT_GT(next, cursor);
              EXPECT_GE(left, 1);
              EXPECT_EQ(o.ends_epoch(cursor), o.epoch_of(next) > o.epoch_of(cursor));
              EXPECT_EQ(o.begins_epoch(next), o.ends_epoch(cursor));
              if (left > 1) {
                EXPECT_EQ(o.steps_left(next), left - 1);
              }
              cursor = next;
            }
          }
        });
}

// The established library's results for samples 1 to 7 in batches of 2 on one shard.
TEST(Order, SevenSamplesInTwos) {
  EXPECT_EQ(batches(spec(7, 2, 1, End::kContinue, false), 0, 5),
            (std::vector<Indices>{{1, 2}, {3, 4}, {5, 6}, {7, 1}, {2, 3}}));
  EXPECT_EQ(batches(spec(7, 2, 1, End::kPad, false), 0, 5),
            (std::vector<Indices>{{1, 2}, {3, 4}, {5, 6}, {7, 7}, {1, 2}}));
  EXPECT_EQ(batches(spec(7, 2, 1, End::kDrop, false), 0, 5),
            (std::vector<Indices>{{1, 2}, {3, 4}, {5, 6}, {1, 2}, {3, 4}}));
  const Order partial(spec(7, 2, 1, End::kContinue, false)),
      padded(spec(7, 2, 1, End::kPad, false));
  EXPECT_EQ(partial.at(6, 0).epoch, 0);
  EXPECT_EQ(partial.at(6, 1).epoch, 1);  // a partial batch has only the step's own epoch
  EXPECT_FALSE(padded.at(6, 0).repeat);
  EXPECT_TRUE(padded.at(6, 1).repeat);
}

TEST(Order, SevenSamplesOnTwoShards) {
  // Shard 0 has 1 2 3, shard 1 has 4 5 6 7.
  const auto plain = [](End end, bool stick) { return spec(7, 2, 2, end, false, stick); };
  EXPECT_EQ(batches(plain(End::kContinue, false), 0, 4),
            (std::vector<Indices>{{1, 2}, {3, 4}, {5, 6}, {7, 1}}));
  EXPECT_EQ(batches(plain(End::kContinue, false), 1, 4),
            (std::vector<Indices>{{4, 5}, {6, 7}, {1, 2}, {3, 4}}));
  EXPECT_EQ(batches(plain(End::kContinue, true), 0, 3),
            (std::vector<Indices>{{1, 2}, {3, 1}, {2, 3}}));
  EXPECT_EQ(batches(plain(End::kContinue, true), 1, 3),
            (std::vector<Indices>{{4, 5}, {6, 7}, {4, 5}}));
  EXPECT_EQ(batches(plain(End::kPad, false), 0, 4),
            (std::vector<Indices>{{1, 2}, {3, 3}, {4, 5}, {6, 7}}));
  EXPECT_EQ(batches(plain(End::kPad, false), 1, 4),
            (std::vector<Indices>{{4, 5}, {6, 7}, {1, 2}, {3, 3}}));
  EXPECT_EQ(batches(plain(End::kPad, true), 0, 4),
            (std::vector<Indices>{{1, 2}, {3, 3}, {1, 2}, {3, 3}}));
  EXPECT_EQ(batches(plain(End::kDrop, false), 0, 3),
            (std::vector<Indices>{{1, 2}, {4, 5}, {1, 2}}));
  EXPECT_EQ(batches(plain(End::kDrop, true), 1, 3), (std::vector<Indices>{{4, 5}, {4, 5}, {4, 5}}));
}

TEST(Order, SevenSamplesOnFiveShards) {
  // Segments: 1 | 2 | 3 4 | 5 | 6 7.
  const OrderSpec padded = spec(7, 2, 5, End::kPad, false);
  EXPECT_EQ(batches(padded, 0, 6),
            (std::vector<Indices>{{1, 1}, {2, 2}, {3, 4}, {5, 5}, {6, 7}, {1, 1}}));
  EXPECT_EQ(batches(padded, 3, 3), (std::vector<Indices>{{5, 5}, {6, 7}, {1, 1}}));
  EXPECT_EQ(batches(spec(7, 2, 5, End::kContinue, false), 3, 3),
            (std::vector<Indices>{{5, 6}, {7, 1}, {2, 3}}));
  // Shards of one sample are padded to as many batches as the longest shard needs.
  const OrderSpec ones = spec(7, 1, 5, End::kPad, false);
  EXPECT_EQ(batches(ones, 0, 3), (std::vector<Indices>{{1}, {1}, {2}}));
  EXPECT_EQ(batches(ones, 2, 3), (std::vector<Indices>{{3}, {4}, {5}}));
  EXPECT_THROW(Order{spec(7, 2, 5, End::kDrop, false)}, GraphError);
}

TEST(Order, ContiguousShardsReadEverySampleOnceAnEpoch) {
  for (End end : {End::kContinue, End::kPad})
    for (bool shuffle : {false, true})
      for (bool stick : {false, true}) {
        if (shuffle && !stick) continue;  // this case is dealing
        for_small_cases([&](int64_t n, int shards, int64_t batch) {
          const OrderSpec s = spec(n, batch, shards, end, shuffle, stick);
          if (n < shards) {
            EXPECT_THROW(Order{s}, GraphError);
            return;
          }
          Ledger ledger;
          for (int shard = 0; shard < shards; ++shard) {
            const Order o = shard_of(s, shard);
            EXPECT_EQ(o.contiguous(), shards > 1);
            for (int64_t cursor = 0; o.epoch_of(cursor) < 4; cursor = o.next(cursor))
              for (const SampleRef& p : step(o, cursor)) {
                ledger.add(p);
                if (!shuffle) {
                  EXPECT_EQ(p.position, p.index);
                }
              }
          }
          for (int64_t e = 0; e < 4; ++e) ledger.expect_whole(e, n);
        });
      }
}

TEST(Order, ContiguousShardsStayInStep) {
  for (End end : {End::kPad, End::kDrop})
    for (bool stick : {false, true})
      for_small_cases([&](int64_t n, int shards, int64_t batch) {
        const int64_t longest = (n + shards - 1) / shards, shortest = n / shards;
        const int64_t steps = end == End::kPad ? (longest + batch - 1) / batch : shortest / batch;
        if (shortest == 0 || steps == 0 || shards == 1) return;
        for (int shard = 0; shard < shards; ++shard) {
          const Order o = shard_of(spec(n, batch, shards, end, false, stick), shard);
          int64_t cursor = 0;
          for (int64_t s = 0; s < 3 * steps; ++s, cursor = o.next(cursor)) {
            EXPECT_EQ(o.epoch_of(cursor), s / steps);
            EXPECT_EQ(o.steps_left(cursor), steps - s % steps);
            const int64_t owner = stick ? shard : (shard + s / steps) % shards;
            for (const SampleRef& p : step(o, cursor)) {
              EXPECT_GE(p.position, owner * n / shards);
              EXPECT_LT(p.position, (owner + 1) * n / shards);
              if (p.repeat) {
                EXPECT_EQ(p.position, (owner + 1) * n / shards - 1);
              }
            }
          }
        }
      });
}

TEST(Order, ContiguousShardsAreElasticInBatchSize) {
  for (End end : {End::kContinue, End::kPad})
    for (bool stick : {false, true})
      for (int64_t n = 2; n <= 12; ++n)
        for (int shard = 0; shard < 2; ++shard) {
          const Order twos = shard_of(spec(n, 2, 2, end, false, stick), shard);
          const Order threes = shard_of(spec(n, 3, 2, end, false, stick), shard);
          Ledger started;
          for (int64_t cursor = 0; twos.epoch_of(cursor) < 3; cursor = twos.next(cursor)) {
            Ledger ledger = started;
            for (int64_t c = cursor; threes.epoch_of(c) < 4; c = threes.next(c))
              for (const SampleRef& p : step(threes, c)) ledger.add(p);
            for (int64_t e = 0; e < 4; ++e) {
              const int64_t owner = stick ? shard : (shard + e) % 2;
              EXPECT_EQ(ledger.read[e].size(),
                        static_cast<size_t>((owner + 1) * n / 2 - owner * n / 2));
            }
            for (const SampleRef& p : step(twos, cursor)) started.add(p);
          }
        }
}

TEST(Order, ShuffleIsKeyedByKeyAndEpoch) {
  const auto epoch = [](uint64_t key, int64_t e) {
    OrderSpec s = spec(50, 50, 1);
    s.key = key;
    Indices all;
    for (const SampleRef& p : step(Order(s), 50 * e)) all.push_back(p.index);
    return all;
  };
  EXPECT_EQ(epoch(1, 0), epoch(1, 0));
  EXPECT_NE(epoch(1, 0), epoch(2, 0));
  EXPECT_NE(epoch(1, 0), epoch(1, 1));
}

TEST(Order, StickingShardsShuffleDifferentlyInEveryEpochAndShard) {
  const auto offsets = [](int shard, int64_t e) {
    const Order o = shard_of(spec(80, 40, 2, End::kContinue, true, true), shard);
    Indices all;
    for (const SampleRef& p : step(o, 40 * e)) all.push_back(p.index - 40 * shard);
    return all;
  };
  EXPECT_NE(offsets(0, 0), offsets(1, 0));
  EXPECT_NE(offsets(0, 0), offsets(0, 1));
}

// Saved states rely on this order.
TEST(Order, GoldenOrder) {
  EXPECT_EQ(batches(spec(10, 5, 1), 0, 3),
            (std::vector<Indices>{{3, 8, 2, 5, 7}, {1, 4, 9, 10, 6}, {8, 10, 6, 9, 5}}));
  EXPECT_EQ(batches(spec(10, 5, 2, End::kContinue, true, true), 1, 2),
            (std::vector<Indices>{{9, 8, 7, 10, 6}, {6, 10, 8, 9, 7}}));
}

TEST(Order, HugeSetsWork) {
  const Order o = shard_of(spec(Order::kMaxSize, 1000, 1 << 20, End::kPad), 12345);
  const int64_t cursor = (int64_t{3} << 40) + 77;
  const SampleRef p = o.at(cursor, 999);
  EXPECT_EQ(p.epoch, 3);
  EXPECT_EQ(p.position, 77 + 12345 * 1000 + 999);
  EXPECT_TRUE(p.index >= 0 && p.index < Order::kMaxSize);
  const Order c =
      shard_of(spec(Order::kMaxSize - 1, 1000, 1 << 20, End::kContinue, false), (1 << 20) - 1);
  EXPECT_EQ(c.at((int64_t{1} << 20) - 1, 0).index, Order::kMaxSize - 2);
  EXPECT_EQ(c.at(int64_t{1} << 20, 0).index, 0);
  EXPECT_EQ(c.at(int64_t{1} << 20, 0).epoch, 1);
}

TEST(Order, CursorsUpToTheLargestOneStandInTheOrder) {
  constexpr int64_t kMany = int64_t{1} << 31, kSizes[] = {1 << 20, Order::kMaxSize};
  for (const int64_t size : kSizes)
    for (const End end : {End::kContinue, End::kPad, End::kDrop})
      for (const bool shuffle : {false, true})
        for (const bool stick : {false, true})
          for (const int64_t batch : {int64_t{1}, kMany - 1}) {
            OrderSpec s = spec(size, batch, 1 << 20, end, shuffle, stick);
            if (end == End::kDrop) s.batch_size = 1;
            s.shard_id = s.num_shards - 1;
            const Order o(s);
            const int64_t next = o.next(Order::kMaxCursor);
            EXPECT_GT(next, Order::kMaxCursor);
            EXPECT_GE(o.epoch_of(next), o.epoch_of(Order::kMaxCursor));
            EXPECT_GE(o.steps_left(next), 1);
            const SampleRef last = o.at(next, s.batch_size - 1);
            EXPECT_TRUE(last.index >= 0 && last.index < size);
          }
}

std::string refusal(const OrderSpec& s) {
  return message<GraphError>([&] { Order o(s); });
}

TEST(Order, RefusalsSayWhy) {
  EXPECT_EQ(refusal(spec(0, 1, 1)), "order: there are no samples");
  EXPECT_EQ(refusal(spec(3, 1, 5, End::kPad, false)),
            "order: a shard would have no samples: there are 3 for 5 shards");
  EXPECT_EQ(refusal(spec(9, 4, 3, End::kDrop)),
            "order: dropping what does not fill a step would leave nothing: a step takes 12 "
            "samples of 9");
  EXPECT_EQ(refusal(spec(9, 4, 3, End::kDrop, false)),
            "order: dropping what does not fill a step would leave nothing: a step takes 4 samples "
            "of a shard that has 3");
  EXPECT_EQ(refusal(spec(9, 0, 3)), "order: batch_size must be between 1 and 2^31 - 1, got 0");
  OrderSpec s = spec(9, 1, 3);
  s.shard_id = 3;
  EXPECT_EQ(refusal(s), "order: shard_id must be between 0 and 2 (num_shards is 3), got 3");
  EXPECT_EQ(refusal(spec(9, 1, 0)), "order: num_shards must be between 1 and 2^20, got 0");
  EXPECT_EQ(refusal(spec(Order::kMaxSize + 1, 1, 1)),
            "order: at most 2^40 samples, got 1099511627777");
}

}  // namespace
}  // namespace stoker::io
