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

// Releases what a ticket took before it found no room. There is as much room as before, so nobody
// is told: two samples that find no room because of each other would try forever.
void give_back_memory(const Ticket& ticket) {
  Step& step = ticket.iteration->step;
  const int stage = ticket.iteration->stage;
  gives_back = true;
  if (ticket.iteration->kind() == StageKind::kChain) step.forget(ticket.number, stage);
  else
    for (int i = 0; i < step.samples.size(); ++i) step.forget(i, stage);
  gives_back = false;
}

}  // namespace

Pipelined::Pipelined(ExecutorArguments a)
    : Executor(std::move(a), [this] { device_went_on(); }),
      first_fed_(feeds_.received()),
      admission_(queue_, *settings().num_threads) {
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
  is_asked_ = true;
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
    work_.notify_all();
    std::rethrow_exception(error);
  }
  return ready && front_ready();
}

Outputs Pipelined::take_step() {
  std::unique_ptr<Iteration> it;
  {
    const MutexLock lock(mutex_);
    it = admission_.take_oldest();
    is_asked_ = false;
    ++handed_out_.steps;
    handed_out_.steps_waited += std::exchange(has_waited_, false);
    handed_out_.samples += it->step.samples.made_count();
    largest_bytes_ = std::max(largest_bytes_, it->step.bytes());
    work_.notify_all();
  }
  const std::exception_ptr fatal = it->fatal;
  Outputs out;
  if (!fatal) out = it->take_outputs(plan_, pool_);
  it.reset();
  mark_held(out);
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
  for (auto& it : queue_)
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
  s.device = device_share();
  return s;
}

void Pipelined::open_iterations() {
  opened_.wait(mutex_, [&]() STOKER_REQUIRES(mutex_) { return !admission_.is_opening(); });
  std::exception_ptr failure;
  for (bool try_again = true; try_again;) {
    try_again = may_open() && open_next(failure);
    destroy_cancelled();
  }
  if (failure) std::rethrow_exception(failure);
}

bool Pipelined::may_open() const {
  return !is_stopping_ && admission_.may_open(depth()) &&
         feeds_.has(first_fed_ + queue_.next_number()) &&
         (queue_.is_empty() || pool_.has_room(largest_bytes_));
}

// Returns false if another try makes no sense. Looks for memory without the lock: pinning it may
// wait for the device, and the device for calls that take the lock.
bool Pipelined::open_next(std::exception_ptr& failure) {
  const int64_t number = queue_.next_number();
  auto it = std::make_unique<Iteration>(*plan_, number, plan_->cursors_after(cursors_, number),
                                        feeds_.at(first_fed_ + number), options_);
  bool has_memory = false;
  admission_.begin_opening();
  try {
    const MutexUnlock unlocked(mutex_);
    has_memory = it->step.slots.allocate(pool_, true);
  } catch (...) {
    failure = std::current_exception();
  }
  const bool try_again = admission_.end_opening(std::move(it), has_memory, failure != nullptr);
  opened_.notify_all();
  work_.notify_all();
  return try_again;
}

// Waits until the device is done with memory of steps that were handed out.
void Pipelined::finish_device() {
  {
    const MutexUnlock unlocked(mutex_);
    device_->finish();
  }
  open_iterations();
}

void Pipelined::destroy_cancelled() {
  std::vector<std::unique_ptr<Iteration>> cancelled = queue_.take_cancelled();
  if (cancelled.empty()) return;
  {
    const MutexUnlock unlocked(mutex_);
    cancelled.clear();
  }
  queue_.destroyed();
  admission_.released();
  work_.notify_all();
}

void Pipelined::run_worker(size_t worker) {
  Worker& w = *workers_[worker];
  const MutexLock lock(mutex_);
  while (!is_stopping_) {
    Try t{.ticket = admission_.next_ticket(worker)};
    if (t.ticket) {
      t.is_alone = t.ticket.iteration->is_alone(t.ticket.number);
      {
        const MutexUnlock unlocked(mutex_);
        try_ticket(w, t);
      }
      if (t.is_alone) admission_.trimmed(worker);
      finish_ticket(t);
      destroy_cancelled();
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
  it.step.samples.failures.insert(it.step.samples.failures.end(), t.failures.begin(),
                                  t.failures.end());
  if (t.starved || t.is_large || t.call)
    it.give_back(t.ticket.number, t.is_large ? TicketState::kLarge : TicketState::kPending);
  else it.finish(t.ticket.number);
  if (t.starved) {
    admission_.starve(t.ticket, *t.starved);
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

void Pipelined::end_try(Iteration& it, const std::exception_ptr& fatal) {
  if (fatal) it.fail(fatal);
  else if (it.is_stage_over()) advance(it);
  if (admission_.make_room()) work_.notify_all();
  if (front_ready() || admission_.is_stuck()) done_.notify_all();
}

// Requires: the iteration's stage is over.
void Pipelined::advance(Iteration& it) {
  if (it.is(State::kFailed)) return;
  if (it.step.samples.is_to_rewind()) {
    ++it.running_count;  // so that it is not cancelled meanwhile
    // The issuer may ask, under the mutex, which iterations hold values.
    auto of_device = std::exchange(it.step.on_device.values, {});
    {
      const MutexUnlock unlocked(mutex_);
      of_device.clear();
      it.step.rewind();
    }
    --it.running_count;
    it.begin(0);
  } else if (const int next = it.step.samples.stage_after(it.stage); next < plan_->stage_count()) {
    it.begin(next);
    if (it.issued.copied) it.state = State::kAwaiting;
  } else {
    it.made_count = it.step.samples.made_count();
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
    if (Iteration* it = queue_.next_to_poll()) poll(*it);
    else if (const Ticket ticket = queue_.next_ticket(Who::kIssuer)) issue(ticket);
    else rest();
  }
}

void Pipelined::rest() {
  constexpr std::chrono::milliseconds kPatience(50);  // a lost GPU makes no host calls, so poll
  const auto awaits_copies = [](auto& it) { return it->issued.copied != nullptr; };
  if (std::none_of(queue_.begin(), queue_.end(), awaits_copies)) work_.wait(mutex_);
  else if (work_.wait_for(mutex_, kPatience) == std::cv_status::timeout) ++queue_.polls;
}

// A user who was waiting when the try began releases nothing, so the decoder gives up its spare
// memory, and lack of room is an error. For a user who came during the try, another one follows.
void Pipelined::issue(const Ticket& ticket) {
  Iteration& it = *ticket.iteration;
  const auto is_awaited = [&]() STOKER_REQUIRES(mutex_) {
    return user_waits_ && &it == &queue_.front();
  };
  const bool was_awaited = is_awaited();
  std::vector<int> refused;
  std::exception_ptr fatal, full;
  try {
    const MutexUnlock unlocked(mutex_);
    refused = device_->issue(it.step, it.stage, it.issued, was_awaited);
  } catch (const DeviceFull&) {
    full = std::current_exception();
  } catch (...) {
    fatal = std::current_exception();
  }
  if (full && !admission_.starve_for_device(ticket, was_awaited != is_awaited()) && was_awaited)
    fatal = full;
  if (full && !fatal) it.give_back(0, TicketState::kPending);
  else it.finish(0);
  if (!refused.empty()) {
    it.begin_again(it.stage - 1, refused);
    work_.notify_all();
  }
  end_try(it, fatal);
  destroy_cancelled();
}

// Lets the iteration go on if the values that its stage reads are on the host.
void Pipelined::poll(Iteration& it) {
  it.issued.polled_at = queue_.polls;
  ++it.running_count;  // so that it is not cancelled meanwhile
  std::exception_ptr fatal;
  bool is_there = false;
  try {
    const MutexUnlock unlocked(mutex_);
    is_there = device_->is_copied(it.issued);
  } catch (...) {
    fatal = std::current_exception();
  }
  --it.running_count;
  if (is_there) it.state = State::kWorking;
  if (is_there) work_.notify_all();
  end_try(it, fatal);
  destroy_cancelled();
}

void Pipelined::fed() {
  const MutexLock lock(mutex_);
  open_iterations();
  done_.notify_all();
}

void Pipelined::memory_released() {
  if (gives_back) return;
  const MutexLock lock(mutex_);
  if (admission_.released()) work_.notify_all();
}

void Pipelined::device_went_on() {
  const MutexLock lock(mutex_);
  ++queue_.polls;
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
