// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Puts faults into reading, for tests of readers: io/faults.h.

#include <algorithm>

#include "base/mutex.h"
#include "bindings.h"
#include "io/faults.h"
#include "text.h"

namespace stoker::python {

namespace {

struct Fault {
  std::string name;
  int error;
  int64_t from;
  bool stalls;
  int64_t reads = 0;
};

// Once installed it stays, since threads may be reading whenever a test ends.
class Injector final : public io::FaultInjector {
 public:
  static Injector& instance() {
    static auto* const one = new Injector();
    return *one;
  }

  int on_read(const std::string& path, int64_t offset, size_t& count) override {
    const MutexLock lock(mutex_);
    const std::shared_ptr<Fault> f = fault_;
    if (!f || !path.ends_with(f->name)) return 0;
    ++f->reads;
    changed_.wait(mutex_, [&]() STOKER_REQUIRES(mutex_) { return !f->stalls; });
    if (f->error == 0) return 0;
    if (offset >= f->from) return f->error;
    count = std::min(count, static_cast<size_t>(f->from - offset));  // a short read up to there
    return 0;
  }
  void set(std::shared_ptr<Fault> fault) {
    const MutexLock lock(mutex_);
    if (fault_) fault_->stalls = false;
    fault_ = std::move(fault);
    changed_.notify_all();
  }
  void go_on() {
    const MutexLock lock(mutex_);
    if (fault_) fault_->stalls = false;
    changed_.notify_all();
  }
  int64_t reads() {
    const MutexLock lock(mutex_);
    return fault_ ? fault_->reads : 0;
  }

 private:
  Injector() : installed_(*this) {}

  Mutex mutex_;
  ConditionVariable changed_;
  std::shared_ptr<Fault> fault_ STOKER_GUARDED_BY(mutex_);
  io::WithFaults installed_;
};

// One at a time.
struct ReadFaults {
  ReadFaults(std::string name, int error, int64_t from, bool stalls) {
    Injector::instance().set(std::make_shared<Fault>(Fault{std::move(name), error, from, stalls}));
  }
  ~ReadFaults() { Injector::instance().set(nullptr); }
  ReadFaults(const ReadFaults&) = delete;
  ReadFaults& operator=(const ReadFaults&) = delete;
};

}  // namespace

void bind_faults(nb::module_& m) {
  nb::class_<ReadFaults>(m, "ReadFaults",
                         "For tests: while it lives, reads of files whose names end in `name` fail "
                         "with the errno `error` from a byte on, or stall until go_on().")
      .def(nb::init<std::string, int, int64_t, bool>(), nb::arg("name"), nb::arg("error") = 0,
           nb::arg("from_byte") = 0, nb::arg("stalls") = false)
      .def_prop_ro(
          "reads", [](const ReadFaults&) { return Injector::instance().reads(); },
          "How many reads it has seen.")
      .def("go_on", [](const ReadFaults&) { Injector::instance().go_on(); }, "Ends the stall.");
}

}  // namespace stoker::python
