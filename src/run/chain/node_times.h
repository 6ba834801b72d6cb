// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// How long each node took. One thread adds; any thread may ask.
#pragma once
#include <atomic>
#include <chrono>
#include <memory>

namespace stoker {

class NodeTimes {
 public:
  explicit NodeTimes(int nodes) : ns_(new std::atomic<int64_t>[static_cast<size_t>(nodes)]()) {}
  void add(int node, int64_t ns) { ns_[node].fetch_add(ns, std::memory_order_relaxed); }
  // Includes the time for its shapes. A pass counts for its first node.
  int64_t of(int node) const { return ns_[node].load(std::memory_order_relaxed); }

 private:
  const std::unique_ptr<std::atomic<int64_t>[]> ns_;
};

// Counts, for a node, the time for which this lives.
class Timed {
 public:
  Timed(NodeTimes& times, int node) : times_(times), node_(node), start_(now()) {}
  ~Timed() { times_.add(node_, now() - start_); }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  static int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
  NodeTimes& times_;
  const int node_;
  const int64_t start_;
};

}  // namespace stoker
