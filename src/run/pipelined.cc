// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
// Many threads, several iterations open, reading ahead. Same bytes as simple.cc.
//
// Note [Memory]
// Fixed slots are acquired when an iteration is opened, ragged samples when their shape is known. Who finds no room is never the
// oldest iteration's sample for long: a younger one's ticket goes back until memory was released (Starved); for the oldest, the
// youngest iteration is closed and made again later. So waiting ends; if nothing is left to close, the user holds the memory or
// the budget is too small, and wait() says so.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "run/cursors.h"
#include "run/device_stage.h"
#include "run/iteration.h"
#include "run/worker.h"

namespace stoker {

namespace {

using Clock = std::chrono::steady_clock;
int64_t ns_since(Clock::time_point t) { return std::chrono::nanoseconds(Clock::now() - t).count(); }

class Pipelined final : public Executor {
 public:
  Pipelined(std::shared_ptr<const Plan> plan, const ExecutorOptions& options, HostPool& pool,
            std::vector<int64_t> cursors, Feeds& feeds)
      : plan_(std::move(plan)),
        options_(options),
        pool_(pool),
        feeds_(feeds),
        first_fed_(feeds.received()),
        cursors_(*plan_, std::move(cursors)) {
    for (int r = 0; r < plan_->reader_count(); ++r) start_reading(r);
    pool_.on_release([this] { memory_released(); });
    if (plan_->has_device_stage())
      device_ = std::make_unique<DeviceStage>(*plan_, options_.device_id, options_.depth + 1,
                                              options_.num_threads, options_.device_memory_limit);
    for (int i = 0; i < options_.num_threads; ++i) {
      const DeviceHelp help{device_ ? device_->decoder() : nullptr, i};
      workers_.push_back(std::make_unique<Worker>(*plan_, options_, fetchers_, pool_, help));
    }
    for (auto& w : workers_) w->thread = std::thread([this, &w = *w] { work(w); });
    if (device_) issuer_ = std::thread([this] { issue(); });
    feeds_.on_change([this] { fed(); });
  }

  ~Pipelined() override {
    feeds_.on_change(nullptr);
    pool_.on_release(nullptr);
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    work_.notify_all();
    issue_.notify_all();
    for (auto& w : workers_) w->thread.join();
    if (issuer_.joinable()) issuer_.join();
  }

  void schedule() override {
    std::unique_lock lock(mutex_);
    open_iterations();
    bury(lock);
  }

  bool wait(int milliseconds) override {
    const auto start = Clock::now();
    std::unique_lock lock(mutex_);
    open_iterations();
    bury(lock);
    const bool was_ready = front_ready();
    user_waits_ = !was_ready;
    issue_.notify_all();  // who waits for room on the device tries again
    const bool ready =
        was_ready || done_.wait_for(lock, std::chrono::milliseconds(milliseconds), [&] {
          return front_ready() || is_stuck() || feeds_.is_at_marker();
        });
    user_waits_ = false;
    waited_ = waited_ || !was_ready;
    user_wait_ns_ += ns_since(start);
    if (!front_ready() && is_stuck()) {
      const std::string message = stuck_message();
      // The user may make room and ask again.
      if (!ring_.empty()) ring_.front()->is_starved = false;
      stuck_ = false;
      work_.notify_all();
      throw BudgetError(message);
    }
    return ready && front_ready();
  }

  Outputs take() override {
    std::unique_ptr<Iteration> it;
    {
      std::lock_guard lock(mutex_);
      it = std::move(ring_.front());
      ring_.pop_front();
      ++steps_;
      steps_waited_ += std::exchange(waited_, false);
      largest_bytes_ = std::max(largest_bytes_, it->step.bytes());
      cursors_.forget_before(it->step.number + 1);
      tight_ = false;
      // What starved behind it is the oldest now: its next try ends in a sample, in room made for it or in an error.
      if (!ring_.empty()) ring_.front()->is_starved = false;
      work_.notify_all();
      issue_.notify_all();
    }
    const std::exception_ptr fatal = it->step.fatal;
    Outputs out;
    if (!fatal)
      out = device_ ? std::move(*it->outputs) : it->step.publish(plan_, pool_, options_.on_error);
    it.reset();
    hold(out, pool_);
    schedule();
    if (fatal) std::rethrow_exception(fatal);
    return out;
  }

  int64_t node_ns(int node) const override {
    int64_t sum = 0;
    for (auto& w : workers_) sum += w->maker.chain().node_ns(node);
    return sum;
  }

  void trim() override {
    if (device_) device_->trim();
  }

  ExecutorStats stats() const override {
    std::lock_guard lock(mutex_);
    ExecutorStats s{.steps = steps_,
                    .steps_waited = steps_waited_,
                    .user_wait_ns = user_wait_ns_,
                    .samples = samples_};
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

 private:
  void start_reading(int r) {
    auto locate = [this, r](int64_t sequence) {
      const int64_t batch = plan_->batch_size();
      const io::Place p = plan_->place(r, cursors_.at(sequence / batch, r), sequence % batch);
      return plan_->source(r).extent(p.index);
    };
    const size_t window = options_.read_ahead_limit / static_cast<size_t>(plan_->reader_count());
    fetchers_.push_back(std::make_unique<io::Fetcher>(options_.io_threads, window, locate));
    fetchers_.back()->schedule(INT64_MAX);  // the window alone bounds it
  }

  // Made, and where there is a device stage also enqueued there.
  bool is_ready(const Iteration& it) const {
    return it.is_made() && (!device_ || it.is_issued || it.step.fatal);
  }
  bool front_ready() const { return !ring_.empty() && is_ready(*ring_.front()); }

  // The one thread that talks to the device, in iteration order.
  void issue() {
    std::unique_lock lock(mutex_);
    while (!stop_) {
      auto it = std::find_if(ring_.begin(), ring_.end(), [&](auto& i) { return !is_ready(*i); });
      if (it == ring_.end() || !(*it)->is_made()) {
        issue_.wait(lock);
        continue;
      }
      issue(**it, lock);
    }
  }

  void issue(Iteration& it, std::unique_lock<std::mutex>& lock) {
    it.is_issuing = true;
    const bool user_waits = user_waits_;
    lock.unlock();
    std::exception_ptr fatal, full;
    std::vector<int> refused;
    try {
      if (!it.outputs) refused = device_->decode(it.step);
      if (refused.empty() && !it.outputs)
        it.outputs = it.step.publish(plan_, pool_, options_.on_error);
      if (refused.empty()) device_->enqueue(it.step, *it.outputs);
    } catch (const DeviceFull&) {
      full = std::current_exception();
    } catch (...) {
      fatal = std::current_exception();
    }
    lock.lock();
    it.is_issuing = false;
    // What the user holds stays while the user waits, so the oldest iteration waits for nothing then.
    if (full && user_waits && &it == ring_.front().get()) fatal = full;
    it.step.fatal = fatal;
    it.is_issued = !fatal && !full && refused.empty();
    if (!refused.empty()) give_back(it, refused);
    close_what_is_closing();
    if (front_ready()) done_.notify_all();
    bury(lock);
    if (full && !fatal && user_waits == user_waits_ && !stop_) issue_.wait(lock);
  }

  // The device could not decode these samples: workers make them on the CPU, as if they had not been made.
  void give_back(Iteration& it, const std::vector<int>& samples) {
    for (int i : samples) it.give_back(i);
    it.done -= static_cast<int64_t>(samples.size());
    samples_ -= static_cast<int64_t>(samples.size());
    close_what_is_closing();
    work_.notify_all();
  }

  // Something was fed, by whatever thread.
  void fed() {
    std::unique_lock lock(mutex_);
    open_iterations();
    bury(lock);
    done_.notify_all();
  }

  // Opens what depth, budget and feeds allow. With memory tight only the oldest iteration goes on.
  void open_iterations() {
    while (!stop_ && static_cast<int>(ring_.size()) < options_.depth &&
           !(tight_ && !ring_.empty())) {
      const int64_t number = ring_.empty() ? next_number_ : ring_.back()->step.number + 1;
      if (!feeds_.has(first_fed_ + number)) return;
      if (!ring_.empty() && !pool_.has_room(largest_bytes_)) return;
      auto it = std::make_unique<Iteration>(*plan_, number, cursors_.at(number),
                                            feeds_.at(first_fed_ + number));
      if (!it->step.allocate(*plan_, pool_)) {
        graveyard_.push_back(std::move(it));
        unopened_ = ring_.empty();
        return;
      }
      unopened_ = false;
      next_number_ = number + 1;
      ring_.push_back(std::move(it));
      work_.notify_all();
    }
  }

  // The next ticket, oldest iteration first. Null when there is none now.
  Iteration* next_ticket(int& i) {
    for (auto& it : ring_) {
      if (it->is_closing || it->is_starved || it->step.fatal) continue;
      for (int64_t k = it->first_pending; k < static_cast<int64_t>(it->tickets.size()); ++k) {
        if (it->tickets[k] != Ticket::kPending) continue;
        it->first_pending = k + 1;
        it->tickets[k] = Ticket::kRunning;
        ++it->running;
        i = static_cast<int>(k);
        return it.get();
      }
    }
    return nullptr;
  }

  void work(Worker& w) {
    std::vector<SampleFailure> failures;
    std::unique_lock lock(mutex_);
    while (!stop_) {
      int i = 0;
      Iteration* it = next_ticket(i);
      if (!it) {
        const auto start = Clock::now();
        work_.wait(lock);
        w.idle_ns.fetch_add(ns_since(start), std::memory_order_relaxed);
        continue;
      }
      const int64_t rooms = rooms_;
      lock.unlock();
      failures.clear();
      bool starved = false;
      std::exception_ptr fatal;
      try {
        it->step.is_made[i] = w.maker.make(it->step, i, failures);
      } catch (const Starved&) {
        it->step.forget(i);
        starved = true;
      } catch (...) {
        fatal = std::current_exception();
      }
      w.scratch.store(w.maker.arena().held(), std::memory_order_relaxed);
      lock.lock();
      finish_ticket(*it, i, starved, rooms, fatal, failures);
      bury(lock);
    }
  }

  void finish_ticket(Iteration& it, int i, bool starved, int64_t rooms,
                     const std::exception_ptr& fatal, std::vector<SampleFailure>& failures) {
    --it.running;
    if (fatal && !it.step.fatal) it.step.fatal = fatal;
    if (starved) {
      it.give_back(i);
      it.is_starved = rooms == rooms_;  // room that came meanwhile is worth another try
    } else {
      it.tickets[i] = Ticket::kDone;
      ++it.done;
      samples_ += it.step.is_made[i];
      it.step.failures.insert(it.step.failures.end(), failures.begin(), failures.end());
    }
    close_what_is_closing();
    // There is one: this ticket's iteration is at most closing, and never the oldest then.
    Iteration& front = *ring_.front();
    if (device_ && it.is_made()) issue_.notify_all();
    if (front.is_starved && !front.is_made()) make_room(front, starved && &it == &front);
    if (front_ready()) done_.notify_all();
  }

  // The oldest iteration found no room: close the youngest one, or try once more when nothing of it runs, or give up until
  // the user makes room.
  void make_room(Iteration& front, bool tried_last) {
    tight_ = true;
    if (ring_.size() > 1) {
      ring_.back()->is_closing = true;
      close_what_is_closing();
    } else if (burying_ || !graveyard_.empty()) {
      return;  // memory is about to come
    } else if (!front.running && tried_last) {
      stuck_ = true;
      done_.notify_all();
    } else if (!front.running) {
      front.is_starved = false;
      work_.notify_all();
    }
  }

  void close_what_is_closing() {
    while (ring_.size() > 1 && ring_.back()->is_closing && !ring_.back()->running &&
           !ring_.back()->is_issuing) {
      next_number_ = ring_.back()->step.number;
      const std::vector<char>& made = ring_.back()->step.is_made;
      samples_ -= std::count(made.begin(), made.end(), 1);
      graveyard_.push_back(std::move(ring_.back()));
      ring_.pop_back();
    }
  }

  // Called by the pool, without its locks, from whatever thread let go of a buffer.
  void memory_released() {
    std::lock_guard lock(mutex_);
    room_was_made();
  }

  void room_was_made() {
    ++rooms_;
    for (auto& it : ring_) it->is_starved = false;
    stuck_ = false;
    work_.notify_all();
  }

  // Lets go of closed iterations without the lock: their buffers call memory_released().
  void bury(std::unique_lock<std::mutex>& lock) {
    if (graveyard_.empty()) return;
    std::vector<std::unique_ptr<Iteration>> dead;
    dead.swap(graveyard_);
    ++burying_;
    lock.unlock();
    dead.clear();
    lock.lock();
    --burying_;
    room_was_made();
  }

  bool is_stuck() const { return unopened_ || (stuck_ && !ring_.front()->running); }

  std::string stuck_message() const {
    return (unopened_ ? "no memory for a batch of up to " + std::to_string(plan_->batch_size()) +
                            " samples. "
                      : "no memory for the next sample of the oldest batch. ") +
           pool_.explain();
  }

  std::shared_ptr<const Plan> plan_;
  ExecutorOptions options_;
  HostPool& pool_;
  Feeds& feeds_;
  const int64_t first_fed_;  // the feeds' step that is iteration 0
  Cursors cursors_;
  std::vector<std::unique_ptr<io::Fetcher>> fetchers_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unique_ptr<DeviceStage> device_;
  std::thread issuer_;
  mutable std::mutex mutex_;
  std::condition_variable work_, done_, issue_;
  std::deque<std::unique_ptr<Iteration>> ring_;  // oldest first
  std::vector<std::unique_ptr<Iteration>> graveyard_;
  int64_t next_number_ = 0;
  size_t largest_bytes_ = 0;
  bool stop_ = false, tight_ = false, stuck_ = false, unopened_ = false, waited_ = false;
  bool user_waits_ = false;  // in wait(), for the oldest iteration
  int64_t rooms_ = 0;  // how often memory was released
  int burying_ = 0;  // threads that are letting go of closed iterations
  int64_t steps_ = 0, steps_waited_ = 0, samples_ = 0, user_wait_ns_ = 0;
};

}  // namespace

std::unique_ptr<Executor> make_pipelined(std::shared_ptr<const Plan> plan,
                                         const ExecutorOptions& options, HostPool& pool,
                                         std::vector<int64_t> cursors, Feeds& feeds) {
  return std::make_unique<Pipelined>(std::move(plan), options, pool, std::move(cursors), feeds);
}

}  // namespace stoker
