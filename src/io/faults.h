// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The seam through which tests make reading slow, short, wrong or impossible.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace stoker::io {

// Sees every open, listing and read of io/origin.h, on the thread that does it. Must be
// thread-safe. A hook may block, which makes a store slow without a clock.
class FaultInjector {
 public:
  virtual ~FaultInjector() = default;
  // Returns 0, or the errno to fail with.
  virtual int on_open(const std::string&) { return 0; }
  // Returns 0, or the errno to fail with (EINTR is tried again). A smaller `count` makes a short
  // read, and 0 makes an end of file.
  virtual int on_read(const std::string&, int64_t /*offset*/, size_t& /*count*/) { return 0; }
  // May change the bytes that were read.
  virtual void on_bytes(const std::string&, int64_t /*offset*/, std::byte*, size_t /*count*/) {}
};

namespace detail {
inline std::atomic<FaultInjector*> fault_injector{nullptr};
}
inline FaultInjector* faults() {
  FaultInjector* f = detail::fault_injector.load(std::memory_order_relaxed);
  // Mostly null, which a relaxed load tells. To use an injector, its memory must be seen as well.
  return f ? detail::fault_injector.load(std::memory_order_acquire) : nullptr;
}

// Installs an injector for the whole process while this object lives. For tests only. Requires: no
// read is under way when it is destroyed.
class WithFaults {
 public:
  explicit WithFaults(FaultInjector& injector)
      : before_(detail::fault_injector.exchange(&injector, std::memory_order_acq_rel)) {}
  ~WithFaults() { detail::fault_injector.store(before_, std::memory_order_release); }
  WithFaults(const WithFaults&) = delete;
  WithFaults& operator=(const WithFaults&) = delete;

 private:
  FaultInjector* before_;
};

}  // namespace stoker::io
