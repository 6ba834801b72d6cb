// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The seam where tests make reading slow, short, wrong or impossible. Without an injector it costs
// one relaxed load a call.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace stoker::io {

// Sees every open, listing and read of io/file.h, from the thread that does it: thread-safe in
// itself. A hook may block, which is how a test makes a store slow without a clock.
class FaultInjector {
 public:
  virtual ~FaultInjector() = default;
  // Before a file or folder is opened. Not 0: the errno to fail with.
  virtual int on_open(const std::string&) { return 0; }
  // Before bytes are read. Not 0: the errno to fail with (EINTR is tried again). A smaller `count`
  // is a short read, 0 the end.
  virtual int on_read(const std::string&, int64_t /*offset*/, size_t& /*count*/) { return 0; }
  // The bytes that came, to be changed at will.
  virtual void on_bytes(const std::string&, int64_t /*offset*/, std::byte*, size_t /*count*/) {}
};

namespace detail {
inline std::atomic<FaultInjector*> fault_injector{nullptr};
}
inline FaultInjector* faults() {
  FaultInjector* f = detail::fault_injector.load(std::memory_order_relaxed);
  // Null is all that the steady path sees; what the injector points to needs the order.
  return f ? detail::fault_injector.load(std::memory_order_acquire) : nullptr;
}

// Installs an injector for the whole process while it lives; for tests only. Requires: no read is
// under way when it goes.
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
