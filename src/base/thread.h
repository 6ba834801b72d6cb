// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <pthread.h>

#include <system_error>
#include <thread>
#include <utility>

#include "base/error.h"

namespace stoker {

// Names the calling thread for `top -H`, `perf` and debuggers. Linux takes 15 bytes at most.
inline void name_this_thread(const char* name) { (void)pthread_setname_np(pthread_self(), name); }

// Starts a thread of that name, which calls f. Throws BudgetError where the system starts no more
// threads; it names the setting that decides how many there are.
template <class F>
std::thread start_thread(const char* name, const char* setting, F f) {
  try {
    return std::thread([name, f = std::move(f)] {
      name_this_thread(name);
      f();
    });
  } catch (const std::system_error& e) {
    throw BudgetError(std::string("the system starts no more threads (") + e.code().message() +
                      "); " + setting + " decides how many there are");
  }
}

}  // namespace stoker
