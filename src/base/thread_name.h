// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <pthread.h>

namespace stoker {

// Names the calling thread for `top -H`, `perf` and debuggers. Linux takes 15 bytes at most.
inline void name_this_thread(const char* name) { (void)pthread_setname_np(pthread_self(), name); }

}  // namespace stoker
