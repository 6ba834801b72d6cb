// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/executors/pipelined.h"

#include "base/thread.h"

namespace stoker {

namespace {

using Clock = std::chrono::steady_clock;
int64_t ns_since(Clock::time_point t) { return std::chrono::nanoseconds(Clock::now() - t).count(); }

}  // namespace

Pipelined::Pipelined(std::shared_ptr<const Plan> plan, const ExecutorOptions& options,
                     HostPool& pool, std::vector<int64_t> cursors, Feeds& feeds)
    : plan_(std::move(plan)),
      options_(options),
      pool_(pool),
      feeds_(feeds),
      first_fed_(feeds.received()),
      cursors_(*plan_, std::move(cursors)),
      holds_memory_(*options.settings.num_threads) {
  for (int r = 0; r < plan_->reader_count(); ++r) start_reading(r);
  pool_.on_release([this] { memory_released(); });
  if (plan_->has_device_stage())
    device_ = std::make_unique<DeviceStage>(
        *plan_, options_.device_id, settings().prefetch_queue_depth + 1, options_.device_limit);
  for (int i = 0; i < *settings().num_threads; ++i)
    workers_.push_back(std::make_unique<Worker>(*plan_, options_, fetchers_, pool_,
                                                device_ ? device_->decoder() : nullptr));
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
  if (!device_) return;
  bell_ = std::make_shared<Bell>();
  {
    const MutexLock lock(bell_->mutex);
    bell_->executor = this;
  }
  issuer_ = start_thread("stoker-issuer", "num_threads", [this] { run_issuer(); });
}

Pipelined::~Pipelined() { stop(); }

void Pipelined::stop() {
  feeds_.on_change(nullptr);
  pool_.on_release(nullptr);
  if (bell_) {
    const MutexLock lock(bell_->mutex);
    bell_->executor = nullptr;
  }
  {
    const MutexLock lock(mutex_);
    is_stopping_ = true;
  }
  work_.notify_all();
  issue_.notify_all();
  for (auto& w : workers_)
    if (w->thread.joinable()) w->thread.join();
  if (issuer_.joinable()) issuer_.join();
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
  issue_.notify_all();  // an iteration that waits for the device's memory tries again
  const auto comes = [&]() STOKER_REQUIRES(mutex_) {
    return done_.wait_until(mutex_, end, [&]() STOKER_REQUIRES(mutex_) {
      return front_ready() || is_stuck() || feeds_.is_at_marker();
    });
  };
  bool ready = was_ready || comes();
  if (device_ && !front_ready() && is_stuck()) {
    user_waits_ = false;
    finish_device();
    user_waits_ = true;
    ready = comes();
  }
  user_waits_ = false;
  has_waited_ = has_waited_ || !was_ready;
  user_wait_ns_ += ns_since(start);
  if (!front_ready() && is_stuck()) {
    const std::string message = stuck_message();
    // The user may make room and call again.
    if (!ring_.empty()) ring_.front()->is_starved = false;
    is_oldest_stuck_ = false;
    work_.notify_all();
    throw BudgetError(message);
  }
  return ready && front_ready();
}

Outputs Pipelined::take() {
  std::unique_ptr<Iteration> it;
  {
    const MutexLock lock(mutex_);
    it = std::move(ring_.front());
    ring_.pop_front();
    ++steps_;
    steps_waited_ += std::exchange(has_waited_, false);
    samples_ += it->made_count;
    largest_bytes_ = std::max(largest_bytes_, it->step.bytes());
    cursors_.forget_before(it->step.number + 1);
    is_tight_ = false;
    // An iteration that starved or was to make room is the oldest now: its next try ends with a
    // sample, with room made for it or with an error.
    if (!ring_.empty()) ring_.front()->is_starved = ring_.front()->is_closing = false;
    work_.notify_all();
    issue_.notify_all();
  }
  const std::exception_ptr fatal = it->step.fatal;
  Outputs out;
  if (!fatal) out = device_ ? std::move(*it->outputs) : it->step.publish(plan_, pool_);
  it.reset();
  mark_held(out, pool_);
  schedule();
  if (fatal) std::rethrow_exception(fatal);
  return out;
}

int64_t Pipelined::node_ns(int node) const {
  int64_t sum = 0;
  for (auto& w : workers_) sum += w->maker.chain().node_ns(node);
  return sum;
}

void Pipelined::trim() {
  if (device_) device_->trim();
}

ExecutorStats Pipelined::stats() const {
  const MutexLock lock(mutex_);
  ExecutorStats s{.steps = steps_,
                  .steps_waited = steps_waited_,
                  .user_wait_ns = user_wait_ns_,
                  .samples = samples_};
  for (auto& it : ring_)
    if (it->round + 1 == plan_->round_count()) s.samples += it->made_count;
  for (auto& w : workers_) {
    s.worker_idle_ns += w->idle_ns.load(std::memory_order_relaxed);
    s.read_wait_ns += w->bytes.wait_ns.load(std::memory_order_relaxed);
    s.bytes_read += w->bytes.bytes_read.load(std::memory_order_relaxed);
    s.scratch += w->scratch.load(std::memory_order_relaxed);
  }
  for (auto& f : fetchers_) {
    const io::Fetcher::Stats read = f->stats();
    s.read_ahead += read.held;
    s.read_ahead_high_water += read.high_water;
  }
  if (device_) s.device = device_->share();
  return s;
}

void Pipelined::start_reading(int r) {
  auto locate = [this, r](int64_t turn) {
    const int64_t batch = plan_->batch_size();
    const io::SampleRef p = plan_->sample_at(r, cursors_.at(turn / batch, r), turn % batch);
    return plan_->store(r).extent(p.index);
  };
  const size_t limit = options_.read_ahead_limit / static_cast<size_t>(plan_->reader_count());
  fetchers_.push_back(std::make_unique<io::Fetcher>(*settings().io_threads, limit, locate));
  fetchers_.back()->schedule(INT64_MAX);  // only the limit bounds how far it reads ahead
}

// Whether all samples are made and, with a device stage, all device work is enqueued.
bool Pipelined::is_ready(const Iteration& it) const {
  return it.is_round_over() && (!device_ || it.is_issued || it.step.fatal);
}

// Takes the next ticket, of the oldest iteration that has one. Returns null when there is none now.
Iteration* Pipelined::next_ticket(size_t worker, int& i) {
  if (is_for_one_worker()) return begin_alone(worker, i);
  for (auto& it : ring_) {
    if (it->is_closing || it->is_starved || it->step.fatal) continue;
    if (it->is_alone && it->running_count) continue;
    i = it->give_out(TicketState::kPending);
    if (i >= 0) return it.get();
  }
  return nullptr;
}

void Pipelined::run_worker(size_t worker) {
  Worker& w = *workers_[worker];
  const MutexLock lock(mutex_);
  while (!is_stopping_) {
    int i = 0;
    if (Iteration* it = next_ticket(worker, i)) {
      Try t{.is_alone = is_one_alone_, .rooms = rooms_};
      holds_memory_[worker] = true;
      {
        const MutexUnlock unlocked(mutex_);
        try_ticket(w, *it, i, t);
      }
      holds_memory_[worker] = !t.is_alone;
      finish_ticket(*it, i, t);
      bury();
    } else if (holds_memory_[worker] && is_for_one_worker()) {
      trim(worker);
    } else {
      const auto start = Clock::now();
      work_.wait(mutex_);
      w.idle_ns.fetch_add(ns_since(start), std::memory_order_relaxed);
    }
  }
}

void Pipelined::try_ticket(Worker& w, Iteration& it, int i, Try& t) {
  try {
    const auto make = t.is_alone ? &SampleMaker::make_alone : &SampleMaker::make;
    it.step.is_made[i] = (w.maker.*make)(it.step, i, it.round, t.failures);
  } catch (const Starved& s) {
    forget(it, i);
    t.starved = s;
    t.is_large = t.is_alone;
  } catch (const BeyondShare&) {
    forget(it, i);
    t.is_large = true;
  } catch (...) {
    t.fatal = std::current_exception();
  }
  w.scratch.store(w.maker.arena().held(), std::memory_order_relaxed);
}

void Pipelined::finish_ticket(Iteration& it, int i, Try& t) {
  --it.running_count;
  if (t.is_alone) is_one_alone_ = false;
  if (t.fatal && !it.step.fatal) it.step.fatal = t.fatal;
  if (t.starved || t.is_large) {
    it.give_back(i, t.is_large ? TicketState::kLarge : TicketState::kPending);
  } else {
    it.tickets[i] = TicketState::kDone;
    ++it.done_count;
    it.made_count += it.step.is_made[i];
  }
  if (t.starved) {
    it.is_starved = t.rooms == rooms_;  // memory that came meanwhile is worth another try
    starved_ = std::move(*t.starved);
  } else if (t.is_large) {
    room_was_made();
  }
  it.step.failures.insert(it.step.failures.end(), t.failures.begin(), t.failures.end());
  close_what_is_closing();
  // The ring is not empty: only iterations behind the oldest are ever closed.
  Iteration& front = *ring_.front();
  if (t.is_alone) work_.notify_all();
  if (device_ && it.is_round_over()) issue_.notify_all();
  if (front.is_starved && !front.is_round_over()) make_room(front);
  if (front_ready()) done_.notify_all();
}

// Called when something was fed, in whatever thread.
void Pipelined::fed() {
  const MutexLock lock(mutex_);
  open_iterations();
  done_.notify_all();
}

std::unique_ptr<Executor> make_pipelined(std::shared_ptr<const Plan> plan,
                                         const ExecutorOptions& options, HostPool& pool,
                                         std::vector<int64_t> cursors, Feeds& feeds) {
  return std::make_unique<Pipelined>(std::move(plan), options, pool, std::move(cursors), feeds);
}

}  // namespace stoker
