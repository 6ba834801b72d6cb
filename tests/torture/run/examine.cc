// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "examine.h"

#include <malloc.h>
#include <unistd.h>

#include <thread>

#include "../draw/files.h"
#include "run.h"

namespace stoker::torture {

namespace {

namespace fs = std::filesystem;

int64_t entries(const char* folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

struct Resources {
  int64_t threads = entries("/proc/self/task"), files = entries("/proc/self/fd");
};

// What there is more than before; "" if nothing. A joined thread stays in the list for a moment.
std::string left_since(const Resources& before) {
  for (int tries = 0;; ++tries) {
    const Resources now;
    if (now.threads <= before.threads && now.files <= before.files) return "";
    if (tries == 1000)
      return std::to_string(now.threads - before.threads) + " threads and " +
             std::to_string(now.files - before.files) + " open files are left";
    usleep(1000);
  }
}

int64_t heap_bytes() {
  const auto info = mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd);
}

class Examination {
 public:
  Examination(const Trial& t, const std::function<void()>& begin_way)
      : t_(t), begin_way_(begin_way), folder_(t.files) {}

  Complaint run() {
    fs::current_path(folder_.path());  // where operators that write files may do so
    const Record judge = record(Way{});
    if (!judge.wrong.empty()) return {Wrong::kError, "the simple executor: " + judge.wrong};
    std::thread([] {}).join();  // with the first one a sanitizer starts a thread of its own
    const Resources before;  // by now all is there that lives as long as the process
    for (const Way& way : t_.ways) {
      const Record other = record(way);
      if (!other.wrong.empty()) return {Wrong::kError, other.wrong};
      if (std::string d = difference(t_, judge, other, way); !d.empty())
        return {Wrong::kOther, std::move(d)};
      if (std::string left = left_since(before); !left.empty())
        return {Wrong::kLeft, std::move(left)};
    }
    return growth();
  }

 private:
  Record record(const Way& way) {
    begin_way_();
    return torture::run(t_, way, folder_.path());
  }

  // Memory grows if, after some runs, each one leaves more than the one before. Not for a simulated
  // device, which remembers all its streams.
  Complaint growth() {
    constexpr int kSettled = 8;
    if (t_.common.repeats <= kSettled + 1 || t_.ways.empty() || t_.uses_device()) return {};
    int64_t last = 0, first = 0;
    for (int i = 0; i < t_.common.repeats; ++i) {
      (void)record(t_.ways[0]);
      const int64_t now = heap_bytes();
      if (i == kSettled) first = now;
      if (i > kSettled && now <= last) return {};
      last = now;
    }
    const int64_t each = (last - first) / (t_.common.repeats - kSettled - 1);
    return {Wrong::kGrowth, "each run leaves about " + std::to_string(each) + " bytes of the heap"};
  }

  const Trial& t_;
  const std::function<void()>& begin_way_;
  const Folder folder_;
};

}  // namespace

const char* in_words(Wrong wrong) {
  static constexpr const char* kWords[] = {"nothing",
                                           "other samples than the simple executor's",
                                           "a wrong error",
                                           "something left behind",
                                           "memory that grows",
                                           "a crash",
                                           "a hang",
                                           "more memory than the budget allows"};
  return kWords[static_cast<int>(wrong)];
}

Complaint examine(const Trial& trial, const std::function<void()>& begin_way) {
  return Examination(trial, begin_way).run();
}

}  // namespace stoker::torture
