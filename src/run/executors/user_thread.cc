// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/executors/user_thread.h"

#include "base/thread.h"

namespace stoker {

namespace {

constexpr std::chrono::seconds kPatience(1);  // for a function that runs at the end

}  // namespace

void make_call(UserCall& call) {
  const auto start = std::chrono::steady_clock::now();
  try {
    if (call.function) {
      call.function->begin(call.step);
      call.outputs = call.function->call(std::exchange(call.inputs, {}), call.count);
    }
  } catch (...) {
    call.error = std::current_exception();
  }
  call.ns = std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
}

UserThread::UserThread(std::function<void()> over)
    : over_(std::make_shared<Bell>(std::move(over))),
      thread_(start_thread("stoker-python", "num_threads",
                           [state = state_, bell = over_] { run_calls(*state, *bell); })) {}

UserThread::~UserThread() {
  over_->silence();
  std::deque<std::shared_ptr<UserCall>> dropped;
  bool has_ended;
  {
    const MutexLock lock(state_->mutex);
    state_->is_to_end = true;
    dropped.swap(state_->calls);
    state_->changed.notify_all();
    if (thread_.get_id() != std::this_thread::get_id())  // its call may be the last to need this
      state_->changed.wait_for(state_->mutex, kPatience,
                               [&]() STOKER_REQUIRES(state_->mutex) { return state_->has_ended; });
    has_ended = state_->has_ended;
  }
  if (has_ended) thread_.join();
  else thread_.detach();
}

void UserThread::begin(std::shared_ptr<UserCall> call) {
  const MutexLock lock(state_->mutex);
  state_->calls.push_back(std::move(call));
  state_->changed.notify_all();
}

void UserThread::run_calls(State& state, Bell& over) {
  const MutexLock lock(state.mutex);
  while (!state.is_to_end) {
    if (state.calls.empty()) {
      state.changed.wait(state.mutex);
      continue;
    }
    std::shared_ptr<UserCall> call = std::move(state.calls.front());
    state.calls.pop_front();
    const MutexUnlock unlocked(state.mutex);
    make_call(*call);
    call->is_over = true;
    call.reset();
    over.ring();
  }
  state.has_ended = true;
  state.changed.notify_all();
}

}  // namespace stoker
