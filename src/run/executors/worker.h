// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What each worker of the pipelined executor has of its own.
#pragma once
#include <chrono>
#include <thread>

#include "run/step/sample_maker.h"

namespace stoker {

// Gives one worker the bytes that the fetchers read. One thread at a time; any thread may read the
// counters.
class FetchedBytes final : public ReaderBytes {
 public:
  FetchedBytes(const Plan& plan, std::vector<std::unique_ptr<io::Fetcher>>& fetchers)
      : fetchers_(fetchers), taken_(fetchers.size()), direct_(plan) {}
  std::span<const uint8_t> take(int reader, int64_t turn, int64_t index, Arena& arena) override {
    const auto start = std::chrono::steady_clock::now();
    std::span<const uint8_t> bytes;
    if (turn >= 0) {
      bytes = fetched(reader, turn, index, arena);
    } else {
      bytes = direct_.take(reader, turn, index, arena);
    }
    wait_ns.fetch_add(std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count(),
                      std::memory_order_relaxed);
    bytes_read.fetch_add(static_cast<int64_t>(bytes.size()), std::memory_order_relaxed);
    return bytes;
  }
  void drop() override {
    for (io::Bytes& b : taken_) b = {};
    direct_.drop();
  }
  std::atomic<int64_t> wait_ns{0}, bytes_read{0};

 private:
  std::span<const uint8_t> fetched(int reader, int64_t turn, int64_t index, Arena& arena) {
    std::optional<io::Bytes> bytes =
        fetchers_[reader]->take(turn, [&](size_t size) { arena.charge(size); });
    // A ticket took the bytes before and went back for lack of memory.
    if (!bytes) return direct_.take(reader, turn, index, arena);
    taken_[reader] = std::move(*bytes);
    return {reinterpret_cast<const uint8_t*>(taken_[reader].data()), taken_[reader].size()};
  }

  std::vector<std::unique_ptr<io::Fetcher>>& fetchers_;
  std::vector<io::Bytes> taken_;
  DirectBytes direct_;
};

struct Worker {
  Worker(const Plan& plan, const ExecutorOptions& options,
         std::vector<std::unique_ptr<io::Fetcher>>& fetchers, HostPool& pool,
         DeviceDecoder* decoder)
      : bytes(plan, fetchers), maker(plan, plan.rewrites(), options, bytes, pool, decoder) {}
  FetchedBytes bytes;
  SampleMaker maker;
  std::atomic<int64_t> idle_ns{0};
  std::atomic<size_t> scratch{0};
  std::thread thread;
};

}  // namespace stoker
