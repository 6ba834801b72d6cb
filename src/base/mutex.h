// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Mutexes that Clang checks. Members say which mutex guards them (STOKER_GUARDED_BY) and functions
// which one their caller must hold (STOKER_REQUIRES) or must not hold (STOKER_EXCLUDES). Code that
// breaks this fails to compile with Clang and fails clang-tidy. At run time the types below are
// std::mutex, std::unique_lock and std::condition_variable.
//
// A lambda is checked like any other function, so one that runs under a lock says so itself:
// [&]() STOKER_REQUIRES(mutex_) { ... }. Clang checks no constructors, destructors or catch blocks.
// These have to be macros, as other compilers do not know the attributes.
#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#ifdef __clang__
#define STOKER_THREAD_SAFETY(attribute) __attribute__((attribute))
#else
#define STOKER_THREAD_SAFETY(attribute)
#endif
#define STOKER_GUARDED_BY(mutex) STOKER_THREAD_SAFETY(guarded_by(mutex))
#define STOKER_REQUIRES(mutex) STOKER_THREAD_SAFETY(requires_capability(mutex))
#define STOKER_EXCLUDES(mutex) STOKER_THREAD_SAFETY(locks_excluded(mutex))

namespace stoker {

// Only the classes below lock and unlock it. What may not be called while it is held stands beside
// its declaration.
class STOKER_THREAD_SAFETY(capability("mutex")) Mutex {
 private:
  friend class MutexLock;
  friend class MutexUnlock;
  friend class ConditionVariable;
  std::mutex native_;
};

// Holds the mutex while it lives, except between unlock() and lock().
class STOKER_THREAD_SAFETY(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) STOKER_THREAD_SAFETY(acquire_capability(mutex))
      : lock_(mutex.native_) {}
  ~MutexLock() STOKER_THREAD_SAFETY(release_capability()) = default;
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void unlock() STOKER_THREAD_SAFETY(release_capability()) { lock_.unlock(); }
  void lock() STOKER_THREAD_SAFETY(acquire_capability()) { lock_.lock(); }

 private:
  std::unique_lock<std::mutex> lock_;
};

// The opposite, for a function whose caller holds the mutex: releases it while this lives.
class STOKER_THREAD_SAFETY(scoped_lockable) MutexUnlock {
 public:
  explicit MutexUnlock(Mutex& mutex) STOKER_THREAD_SAFETY(release_capability(mutex))
      : native_(mutex.native_) {
    native_.unlock();
  }
  ~MutexUnlock() STOKER_THREAD_SAFETY(release_capability()) { native_.lock(); }
  MutexUnlock(const MutexUnlock&) = delete;
  MutexUnlock& operator=(const MutexUnlock&) = delete;

 private:
  std::mutex& native_;
};

// Like std::condition_variable, but told the mutex, which is held again however a wait ends.
class ConditionVariable {
 public:
  void notify_one() { native_.notify_one(); }
  void notify_all() { native_.notify_all(); }

  void wait(Mutex& mutex) STOKER_REQUIRES(mutex) {
    Borrowed held(mutex);
    native_.wait(held.lock);
  }
  template <class Predicate>
  void wait(Mutex& mutex, Predicate predicate) STOKER_REQUIRES(mutex) {
    Borrowed held(mutex);
    native_.wait(held.lock, std::move(predicate));
  }
  std::cv_status wait_for(Mutex& mutex, std::chrono::nanoseconds time) STOKER_REQUIRES(mutex) {
    Borrowed held(mutex);
    return native_.wait_for(held.lock, time);
  }
  template <class Predicate>
  bool wait_for(Mutex& mutex, std::chrono::nanoseconds time, Predicate predicate)
      STOKER_REQUIRES(mutex) {
    Borrowed held(mutex);
    return native_.wait_for(held.lock, time, std::move(predicate));
  }
  template <class Predicate>
  bool wait_until(Mutex& mutex, std::chrono::steady_clock::time_point end, Predicate predicate)
      STOKER_REQUIRES(mutex) {
    Borrowed held(mutex);
    return native_.wait_until(held.lock, end, std::move(predicate));
  }

 private:
  // The lock that a std::condition_variable asks for, of a mutex that is and stays held.
  struct Borrowed {
    explicit Borrowed(Mutex& mutex) : lock(mutex.native_, std::adopt_lock) {}
    ~Borrowed() { (void)lock.release(); }
    std::unique_lock<std::mutex> lock;
  };
  std::condition_variable native_;
};

}  // namespace stoker
