// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/executors/pipelined.h"

#include "base/thread.h"

namespace stoker {

namespace {

using Clock = std::chrono::steady_clock;
using State = IterationState;
int64_t ns_since(Clock::time_point t) { return std::chrono::nanoseconds(Clock::now() - t).count(); }

thread_local bool gives_back = false;  // this thread is in give_back_memory()

// Releases what a ticket took before it found no room. There is then as much room as before, so
// nobody is told. Otherwise two samples that find no room because of each other would try forever.
void give_back_memory(const Ticket& ticket) {
  Step& step = ticket.iteration->step;
  const int stage = ticket.iteration->stage;
  gives_back = true;
  if (ticket.iteration->kind() == StageKind::kChain) step.forget(ticket.number, stage);
  else
    for (int i = 0; i < step.size(); ++i) step.forget(i, stage);
  gives_back = false;
}

}  // namespace

Pipelined::Pipelined(ExecutorArguments a)
    : Executor(std::move(a), [this] { device_went_on(); }),
      first_fed_(feeds_.received()),
      admission_(ring_, *settings().num_threads) {
  pool_.on_release([this] { memory_released(); });
  for (int i = 0; i < *settings().num_threads; ++i)
    workers_.push_back(std::make_unique<Worker>(*this));
  try {
    start_threads();
  } catch (...) {
    stop();
    throw;
  }
  feeds_.on_change([this] { fed(); });
}

void Pipelined::start_threads() {
  for (size_t i = 0; i < workers_.size(); ++i)
    workers_[i]->thread = start_thread("stoker-worker", "num_threads", [this, i] {
      if (!options_.worker_cpus.empty()) run_on(options_.worker_cpus[i]);
      run_worker(i);
    });
  if (device_) issuer_ = start_thread("stoker-issuer", "num_threads", [this] { run_issuer(); });
  if (plan_->calls_user_code())
    user_thread_ = std::make_unique<UserThread>([this] { call_is_over(); });
}

Pipelined::~Pipelined() { stop(); }

void Pipelined::stop() {
  feeds_.on_change(nullptr);
  pool_.on_release(nullptr);
  if (device_) device_->silence();
  {
    const MutexLock lock(mutex_);
    is_stopping_ = true;
  }
  work_.notify_all();
  for (auto& w : workers_)
    if (w->thread.joinable()) w->thread.join();
  if (issuer_.joinable()) issuer_.join();
  user_thread_.reset();
}

void Pipelined::schedule() {
  const MutexLock lock(mutex_);
  open_iterations();
}

bool Pipelined::wait(int milliseconds) {
  const auto start = Clock::now(), end = start + std::chrono::milliseconds(milliseconds);
  const MutexLock lock(mutex_);
  open_iterations();
  const bool was_ready = front_ready();
  user_waits_ = !was_ready;
  if (device_) {
    admission_.released_on_device();  // perhaps
    work_.notify_all();
  }
  const auto comes = [&]() STOKER_REQUIRES(mutex_) {
    return done_.wait_until(mutex_, end, [&]() STOKER_REQUIRES(mutex_) {
      return front_ready() || admission_.is_stuck() || feeds_.is_at_marker();
    });
  };
  bool ready = was_ready || comes();
  if (device_ && !front_ready() && admission_.is_stuck()) {
    user_waits_ = false;
    finish_device();
    user_waits_ = true;
    ready = comes();
  }
  user_waits_ = false;
  has_waited_ = has_waited_ || !was_ready;
  handed_out_.user_wait_ns += ns_since(start);
  if (!front_ready() && admission_.is_stuck()) {
    const std::exception_ptr error = admission_.stuck_error(pool_, plan_->batch_size());
    admission_.try_again();  // the user may make room and call again
    work_.notify_all();
    std::rethrow_exception(error);
  }
  return ready && front_ready();
}

Outputs Pipelined::take() {
  std::unique_ptr<Iteration> it;
  {
    const MutexLock lock(mutex_);
    it = ring_.take_front();
    ++handed_out_.steps;
    handed_out_.steps_waited += std::exchange(has_waited_, false);
    handed_out_.samples += it->step.made_count();
    largest_bytes_ = std::max(largest_bytes_, it->step.bytes());
    admission_.next_oldest();
    work_.notify_all();
  }
  const std::exception_ptr fatal = it->step.fatal;
  Outputs out;
  if (!fatal) out = it->take(plan_, pool_);
  it.reset();
  mark_held(out, pool_);
  schedule();
  if (fatal) std::rethrow_exception(fatal);
  return out;
}

int64_t Pipelined::node_ns(int node) const {
  int64_t sum = 0;
  for (auto& w : workers_) sum += w->maker.times().of(node);
  return sum;
}

ExecutorStats Pipelined::stats() const {
  const MutexLock lock(mutex_);
  ExecutorStats s = handed_out_;
  for (auto& it : ring_)
    if (it->stage >= plan_->last_chain()) s.samples += it->made_count;
  for (auto& w : workers_) {
    s.worker_idle_ns += w->idle_ns;
    s.read_wait_ns += w->maker.bytes().wait_ns;
    s.bytes_read += w->maker.bytes().bytes_read;
    s.scratch += w->scratch;
  }
  for (auto& f : fetchers_) {
    const io::Fetcher::Stats read = f->stats();
    s.read_ahead += read.held;
    s.read_ahead_high_water += read.high_water;
  }
  if (device_) s.device = device_->share();
  return s;
}

// Opens iterations as depth, budget and feeds allow, and destroys closed ones.
void Pipelined::open_iterations() {
  opened_.wait(mutex_, [&]() STOKER_REQUIRES(mutex_) { return !admission_.is_opening(); });
  std::exception_ptr failure;
  for (bool goes_on = true; goes_on;) {
    goes_on = may_open() && open_next(failure);
    bury();
  }
  if (failure) std::rethrow_exception(failure);
}

bool Pipelined::may_open() const {
  if (is_stopping_ || admission_.is_opening() || ring_.size() >= settings().prefetch_queue_depth ||
      admission_.opens_only_oldest())
    return false;
  return feeds_.has(first_fed_ + ring_.next_number()) &&
         (ring_.is_empty() || pool_.has_room(largest_bytes_));
}

// Returns false if another try makes no sense. A try makes sense if memory was released while this
// one was looking for it, or if older iterations were closed, which are to be made first.
bool Pipelined::open_next(std::exception_ptr& failure) {
  const int64_t number = ring_.next_number(), rooms = admission_.rooms();
  auto it = std::make_unique<Iteration>(*plan_, number, plan_->cursors_after(cursors_, number),
                                        feeds_.at(first_fed_ + number), options_);
  const bool has_memory = allocate(it->step, failure);
  const bool finds_none = !has_memory && !failure && rooms == admission_.rooms();
  const bool is_stuck = finds_none && ring_.is_empty() && !admission_.is_burying();
  admission_.set_unopened(is_stuck ? it->step.fixed_bytes() : 0);
  if (!has_memory || number != ring_.next_number() || admission_.opens_only_oldest()) {
    admission_.bury(std::move(it));
    return !finds_none && !failure;
  }
  ring_.open(std::move(it));
  work_.notify_all();
  return true;
}

// Looks for memory without the lock: pinning it may wait for the device, and the device for calls
// that take the lock.
bool Pipelined::allocate(Step& step, std::exception_ptr& failure) {
  bool has_memory = false;
  admission_.set_opening(true);
  try {
    const MutexUnlock unlocked(mutex_);
    has_memory = step.allocate(pool_, true);
  } catch (...) {
    failure = std::current_exception();
  }
  admission_.set_opening(false);
  opened_.notify_all();
  return has_memory;
}

// The device may still use memory of steps that were handed out: waits until it is done with that.
void Pipelined::finish_device() {
  {
    const MutexUnlock unlocked(mutex_);
    device_->finish();
  }
  open_iterations();
}

void Pipelined::bury() {
  std::vector<std::unique_ptr<Iteration>> dead = admission_.take_dead();
  if (dead.empty()) return;
  {
    const MutexUnlock unlocked(mutex_);
    dead.clear();
  }
  admission_.buried();
  work_.notify_all();
}

void Pipelined::run_worker(size_t worker) {
  Worker& w = *workers_[worker];
  const MutexLock lock(mutex_);
  while (!is_stopping_) {
    Try t{.ticket = admission_.next(worker), .rooms = admission_.rooms()};
    if (t.ticket) {
      t.is_alone = t.ticket.iteration->is_alone(t.ticket.number);
      {
        const MutexUnlock unlocked(mutex_);
        try_ticket(w, t);
      }
      if (t.is_alone) admission_.trimmed(worker);
      finish_ticket(t);
      bury();
    } else if (admission_.must_trim(worker)) {
      trim(worker);
    } else {
      const auto start = Clock::now();
      work_.wait(mutex_);
      w.idle_ns += ns_since(start);
    }
  }
}

void Pipelined::try_ticket(Worker& w, Try& t) {
  Iteration& it = *t.ticket.iteration;
  const auto make = [&] {
    if (it.kind() == StageKind::kPython && !it.call) t.call = call_of(it.step, it.stage);
    else it.make(t.ticket.number, w.maker, t.failures);
  };
  try {
    if (t.is_alone) w.maker.alone(make);
    else make();
  } catch (const Starved& s) {
    give_back_memory(t.ticket);
    t.starved = s;
    t.is_large = t.is_alone;
  } catch (const BeyondShare&) {
    give_back_memory(t.ticket);
    t.is_large = true;
  } catch (...) {
    t.fatal = std::current_exception();
  }
  w.scratch = w.maker.arena().held();
}

void Pipelined::finish_ticket(Try& t) {
  Iteration& it = *t.ticket.iteration;
  it.step.failures.insert(it.step.failures.end(), t.failures.begin(), t.failures.end());
  if (t.starved || t.is_large || t.call)
    it.give_back(t.ticket.number, t.is_large ? TicketState::kLarge : TicketState::kPending);
  else it.finish(t.ticket.number);
  if (t.starved) {
    admission_.starve(it, t.rooms, t.starved);
  } else if (t.is_large) {
    admission_.released();
    work_.notify_all();
  } else if (t.call) {
    t.call->step = first_fed_ + it.step.number;
    it.call = t.call;
    user_thread_->begin(std::move(t.call));
    work_.notify_all();
  }
  if (t.is_alone) work_.notify_all();
  end_try(it, t.fatal);
}

// For all threads, when a ticket was given back or is finished.
void Pipelined::end_try(Iteration& it, const std::exception_ptr& fatal) {
  if (fatal) it.fail(fatal);
  else if (it.is_stage_over()) advance(it);
  admission_.close_what_is_closing();
  if (admission_.make_room()) work_.notify_all();
  if (front_ready() || admission_.is_stuck()) done_.notify_all();
}

// Requires: the iteration's stage is over.
void Pipelined::advance(Iteration& it) {
  if (it.is(State::kFailed)) return;
  if (it.step.is_to_rewind()) {
    ++it.running_count;  // so that it is not closed meanwhile
    {
      const MutexUnlock unlocked(mutex_);
      it.step.rewind();
    }
    --it.running_count;
    it.begin(0);
  } else if (const int next = it.step.stage_after(it.stage); next < plan_->stage_count()) {
    it.begin(next);
    if (it.for_device.copied) it.state = State::kAwaiting;
  } else {
    it.made_count = it.step.made_count();
    it.state = State::kReady;
    return;
  }
  work_.notify_all();
}

void Pipelined::trim(size_t worker) {
  {
    const MutexUnlock unlocked(mutex_);
    workers_[worker]->maker.trim();
    workers_[worker]->scratch = 0;
  }
  admission_.trimmed(worker);
  work_.notify_all();
}

void Pipelined::run_issuer() {
  const MutexLock lock(mutex_);
  while (!is_stopping_) {
    if (Iteration* it = ring_.next_to_poll()) poll(*it);
    else if (const Ticket ticket = ring_.next(Who::kIssuer)) issue(ticket);
    else rest();
  }
}

// Waits until something may have changed.
void Pipelined::rest() {
  constexpr std::chrono::milliseconds kPatience(50);  // a lost GPU makes no host calls, so poll
  const auto awaits_copies = [](auto& it) { return it->for_device.copied != nullptr; };
  if (std::none_of(ring_.begin(), ring_.end(), awaits_copies)) work_.wait(mutex_);
  else if (work_.wait_for(mutex_, kPatience) == std::cv_status::timeout) ++ring_.polls;
}

// If the user was waiting when the try began, the decoder gives up its spare memory, and lack of
// room is an error, as the user releases nothing while waiting. For a user who came during the try,
// another try follows at once.
void Pipelined::issue(const Ticket& ticket) {
  Iteration& it = *ticket.iteration;
  const auto is_awaited = [&]() STOKER_REQUIRES(mutex_) {
    return user_waits_ && &it == &ring_.front();
  };
  const bool was_awaited = is_awaited();
  const int64_t rooms = admission_.rooms();
  std::vector<int> refused;
  std::exception_ptr fatal, full;
  try {
    const MutexUnlock unlocked(mutex_);
    refused = device_->issue(it.step, it.stage, it.for_device, was_awaited);
  } catch (const DeviceFull&) {
    full = std::current_exception();
  } catch (...) {
    fatal = std::current_exception();
  }
  if (full && &it == &ring_.front() && !admission_.make_device_room() && was_awaited) fatal = full;
  if (full && !fatal) it.give_back(0, TicketState::kPending);
  else it.finish(0);
  if (full && was_awaited == is_awaited()) admission_.starve(it, rooms);
  if (!refused.empty()) {
    it.begin_again(it.stage - 1, refused);
    work_.notify_all();
  }
  end_try(it, fatal);
  bury();
}

// Lets the iteration go on if the values that its stage reads are on the host.
void Pipelined::poll(Iteration& it) {
  it.for_device.polled_at = ring_.polls;
  ++it.running_count;  // so that it is not closed meanwhile
  std::exception_ptr fatal;
  bool is_there = false;
  try {
    const MutexUnlock unlocked(mutex_);
    is_there = device_->is_copied(it.for_device);
  } catch (...) {
    fatal = std::current_exception();
  }
  --it.running_count;
  if (is_there) it.state = State::kWorking;
  if (is_there) work_.notify_all();
  end_try(it, fatal);
  bury();
}

void Pipelined::fed() {
  const MutexLock lock(mutex_);
  open_iterations();
  done_.notify_all();
}

// Called by the pool, without its locks.
void Pipelined::memory_released() {
  if (gives_back) return;
  const MutexLock lock(mutex_);
  if (admission_.released()) work_.notify_all();
}

void Pipelined::device_went_on() {
  const MutexLock lock(mutex_);
  ++ring_.polls;
  admission_.released_on_device();  // perhaps
  work_.notify_all();
}

void Pipelined::call_is_over() {
  const MutexLock lock(mutex_);
  work_.notify_all();
}

std::unique_ptr<Executor> make_pipelined(ExecutorArguments a) {
  return std::make_unique<Pipelined>(std::move(a));
}

}  // namespace stoker
