// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Tells AddressSanitizer which bytes of our own allocations may be accessed. Without the sanitizer
// these functions do nothing.
#pragma once
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define STOKER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define STOKER_ASAN 1
#endif
#endif

#ifdef STOKER_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace stoker {

#ifdef STOKER_ASAN
inline constexpr bool kPoisons = true;
inline void poison(const void* p, size_t bytes) { __asan_poison_memory_region(p, bytes); }
inline void unpoison(const void* p, size_t bytes) { __asan_unpoison_memory_region(p, bytes); }
inline bool is_poisoned(const void* p) { return __asan_address_is_poisoned(p) != 0; }
#else
inline constexpr bool kPoisons = false;
inline void poison(const void*, size_t) {}
inline void unpoison(const void*, size_t) {}
inline bool is_poisoned(const void*) { return false; }
#endif

}  // namespace stoker
