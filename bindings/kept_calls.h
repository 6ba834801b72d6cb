// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Results of calls of a function of the user's, kept so that the same call need not be made again.
#pragma once
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/hash.h"
#include "base/mutex.h"
#include "op/user_function.h"

namespace stoker::python {

struct KeptCall {
  uint64_t given;  // hash of the inputs and the count
  int64_t count;
  std::vector<HostBatch> outputs;
  std::optional<std::string> failure;  // why there are no outputs

  bool has_all_samples() const {
    return std::all_of(outputs.begin(), outputs.end(), [&](const HostBatch& out) {
      return out.samples.size() == static_cast<size_t>(count);
    });
  }
  std::vector<HostBatch>& result() {
    if (failure) throw SampleError(*failure);
    return outputs;
  }
};

// One call for each step. Thread-safe.
class KeptCalls {
 public:
  static uint64_t hash_of(const std::vector<HostBatch>& inputs, int64_t count) {
    uint64_t h = inputs.size();
    for (const HostBatch& in : inputs)
      for (const View& v : in.samples) {
        h = mix(h, static_cast<uint64_t>(v.dtype), static_cast<uint64_t>(v.shape.rank));
        for (int a = 0; a < v.shape.rank; ++a) h = mix(h, static_cast<uint64_t>(v.shape[a]));
        h = mix(h, hash64({static_cast<const char*>(v.data), static_cast<size_t>(v.bytes())}));
      }
    return mix(h, static_cast<uint64_t>(count));
  }

  void keep_from_now_on(bool keeps) {
    const MutexLock lock(mutex_);
    keeps_ = keeps;
  }
  void forget() {
    std::map<int64_t, KeptCall> dropped;  // freed without the mutex
    const MutexLock lock(mutex_);
    dropped.swap(calls_);
  }
  // Drops what was kept for earlier steps, unless calls are being kept. Returns whether calls are,
  // or were, kept.
  bool begin(int64_t step) {
    std::vector<KeptCall> dropped;
    const MutexLock lock(mutex_);
    while (!keeps_ && !calls_.empty() && calls_.begin()->first < step)
      dropped.push_back(std::move(calls_.extract(calls_.begin()).mapped()));
    return keeps_ || !calls_.empty();
  }
  std::optional<KeptCall> at(int64_t step, uint64_t given) const {
    const MutexLock lock(mutex_);
    const auto at = calls_.find(step);
    if (at == calls_.end() || at->second.given != given) return std::nullopt;
    return at->second;
  }
  void keep(int64_t step, const KeptCall& call) {
    const MutexLock lock(mutex_);
    if (keeps_) calls_.insert_or_assign(step, call);
  }
  // The dtype and the number of axes of each output in the first kept call that gave all samples.
  std::optional<std::vector<std::pair<std::string, int>>> types() const {
    const MutexLock lock(mutex_);
    const auto call = std::find_if(calls_.begin(), calls_.end(), [](const auto& c) {
      return !c.second.failure && c.second.has_all_samples();
    });
    if (call == calls_.end()) return std::nullopt;
    std::vector<std::pair<std::string, int>> types;
    for (const HostBatch& out : call->second.outputs)
      types.emplace_back(name_of(out.samples[0].dtype), out.samples[0].shape.rank);
    return types;
  }

 private:
  mutable Mutex mutex_;
  bool keeps_ STOKER_GUARDED_BY(mutex_) = false;
  std::map<int64_t, KeptCall> calls_ STOKER_GUARDED_BY(mutex_);  // by step
};

}  // namespace stoker::python
