// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What each worker of the pipelined executor has of its own.
#pragma once
#include <chrono>
#include <thread>

#include "run/step/sample_maker.h"

namespace stoker {

// Gives one worker what the fetchers read. One thread at a time; any thread may read the counters.
class FetchedBytes final : public ReaderBytes {
 public:
  explicit FetchedBytes(std::vector<std::unique_ptr<io::Fetcher>>& fetchers)
      : fetchers_(fetchers), taken_(fetchers.size()) {}
  std::span<const io::Part> take(int reader, int64_t turn, int64_t index, Arena& arena) override {
    const auto start = std::chrono::steady_clock::now();
    io::Fetched& taken = taken_[static_cast<size_t>(reader)];
    taken = fetched(*fetchers_[static_cast<size_t>(reader)], turn, index, arena);
    wait_ns.fetch_add(std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count(),
                      std::memory_order_relaxed);
    bytes_read.fetch_add(static_cast<int64_t>(taken.size()), std::memory_order_relaxed);
    return taken.parts;
  }
  void drop() override {
    for (io::Fetched& f : taken_) f = {};
  }
  std::atomic<int64_t> wait_ns{0}, bytes_read{0};

 private:
  static io::Fetched fetched(io::Fetcher& from, int64_t turn, int64_t index, Arena& arena) {
    const auto admit = [&](size_t size) { arena.charge(size); };
    if (turn >= 0)
      if (std::optional<io::Fetched> f = from.take(turn, admit)) return std::move(*f);
    // A replacement, or a ticket took the bytes before and went back for lack of memory.
    return from.take_again(index, admit);
  }

  std::vector<std::unique_ptr<io::Fetcher>>& fetchers_;
  std::vector<io::Fetched> taken_;
};

struct Worker {
  Worker(const Plan& plan, const ExecutorOptions& options,
         std::vector<std::unique_ptr<io::Fetcher>>& fetchers, HostPool& pool,
         DeviceDecoder* decoder)
      : bytes(fetchers), maker(plan, plan.rewrites(), options, bytes, pool, decoder) {}
  FetchedBytes bytes;
  SampleMaker maker;
  std::atomic<int64_t> idle_ns{0};
  std::atomic<size_t> scratch{0};
  std::thread thread;
};

}  // namespace stoker
