// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/call/call.h"

#include "run/step/batch_error.h"
#include "run/step/no_room.h"
#include "run/step/sample_maker.h"
#include "run/step/variants.h"

namespace stoker {

namespace {

// Why no call can run the node; "" if one can.
const char* obstacle(const Node& n, const OperatorType& type) {
  if (type.reads) return "it reads samples by itself; give a call what is to be read";
  if (n.function) return "it calls a function of the user's";
  if (n.device != DeviceKind::kCpu) return "it runs on a GPU";
  return "";
}

std::shared_ptr<const Plan> plan_of_call(const Graph& graph) {
  auto plan = std::make_shared<const Plan>(
      graph, PlanOptions{.batch_size = int64_t{1} << 20, .rewrites = {}});
  for (int i = 0; i < plan->size(); ++i)
    if (const std::string why = obstacle(plan->node(i), *plan->checked(i).type); !why.empty())
      throw GraphError(node_in_words(plan->node(i)) + ": " + why +
                       ". Only a pipeline can do that, not a call");
  return plan;
}

void check_given(const Node& node, const TensorType& want, const View& v) {
  const bool is_other_layout =
      !v.layout.empty() && !want.layout.empty() && !(v.layout == want.layout);
  if (v.dtype == want.dtype && v.shape.rank == want.shape.rank && !is_other_layout) return;
  throw GraphError(node_in_words(node) + ": expected " + want.str() + ", got " +
                   TensorType{v.dtype, v.layout, v.shape}.str());
}

}  // namespace

struct Call::Worker {
  explicit Worker(const Call& call)
      : maker(*call.plan_, call.plan_->rewrites(), call.memory_->options(), no_fetchers,
              call.memory_->pool(), nullptr) {}

  Fetchers no_fetchers;
  SampleMaker maker;
  size_t kept = 0;  // bytes that count in CallMemory
};

class Call::Borrowed {
 public:
  Borrowed(const Call& call, uint64_t seed) : call_(call) {
    {
      const MutexLock lock(call.mutex_);
      if (!call.idle_.empty()) {
        worker_ = std::move(call.idle_.back());
        call.idle_.pop_back();
      }
    }
    if (!worker_) worker_ = std::make_unique<Worker>(call);
    maker().use_seed(seed);
  }
  ~Borrowed() {
    CallMemory& memory = *call_.memory_;
    const size_t held = maker().arena().held();
    if (held != worker_->kept) {
      memory.let_go(std::exchange(worker_->kept, 0));
      if (memory.try_keep(held)) worker_->kept = held;
      else maker().trim();
    }
    const MutexLock lock(call_.mutex_);
    call_.idle_.push_back(std::move(worker_));
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;

  SampleMaker& maker() { return worker_->maker; }

 private:
  const Call& call_;
  std::unique_ptr<Worker> worker_;
};

// One run, while it is made. The threads of a crew share out the samples of a stage.
class Call::Run {
 public:
  Run(const Call& call, const std::shared_ptr<const FedStep>& fed, const CallKey& key, Crew* crew)
      : call_(call),
        seed_(key.seed),
        crew_(crew),
        step_(*call.plan_, 0, {key.position}, fed, call.memory_->options()) {}

  Outputs make() {
    HostPool& pool = call_.memory_->pool();
    if (!step_.slots.allocate(pool, false))
      throw NoRoom("what the call gives", step_.slots.fixed_bytes(), pool);
    for (int stage = 0; stage < call_.plan_->stage_count();
         stage = step_.samples.stage_after(stage)) {
      if (call_.plan_->stage(stage).kind == StageKind::kBatch) make_batch(stage);
      else make_samples(stage);
      if (error_) std::rethrow_exception(error_);
    }
    Outputs out = step_.publish(call_.plan_, pool);
    join_variants(*call_.plan_, out);
    return out;
  }

 private:
  void make_samples(int stage) {
    stage_ = stage;
    next_ = 0;
    const auto size = static_cast<int>(step_.samples.size());
    if (!crew_ || size < 2) return work();
    crew_->run(size - 1, [this] { work(); });
  }

  // Makes samples until none is left, or one of them could not be tried.
  void work() noexcept {
    std::vector<SampleFailure> failures;
    try {
      Borrowed worker(call_, seed_);
      for (int i; (i = next_++) < step_.samples.size();) {
        if (stage_ > 0 && !step_.samples.is_made[i]) continue;
        with_room(worker.maker(), [&] {
          step_.samples.is_made[i] = worker.maker().make(step_, i, stage_, failures);
        });
      }
    } catch (...) {
      next_ = static_cast<int>(step_.samples.size());
      const MutexLock lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
    if (failures.empty()) return;
    const MutexLock lock(mutex_);
    auto& all = step_.samples.failures;
    all.insert(all.end(), std::make_move_iterator(failures.begin()),
               std::make_move_iterator(failures.end()));
  }

  void make_batch(int stage) {
    Borrowed worker(call_, seed_);
    with_room(worker.maker(),
              [&] { worker.maker().make_batch(step_, stage, nullptr, step_.samples.failures); });
  }

  template <class Make>
  void with_room(SampleMaker& maker, const Make& make) {
    try {
      try {
        make();
      } catch (const BeyondShare&) {
        const MutexLock lock(call_.memory_->alone());
        maker.alone(make);
      }
    } catch (const Starved& s) {
      if (!s.why.empty()) throw BudgetError(s.why);
      throw NoRoom("what the call gives", s.bytes, call_.memory_->pool());
    }
  }

  const Call& call_;
  const uint64_t seed_;
  Crew* const crew_;
  Step step_;
  int stage_ = 0;
  std::atomic<int> next_{0};
  Mutex mutex_;
  std::exception_ptr error_;  // guarded while a crew works
};

Call::Call(const Graph& graph, std::shared_ptr<CallMemory> memory)
    : memory_(std::move(memory)), plan_(plan_of_call(graph)) {
  for (int i = 0; i < plan_->size(); ++i)
    if (plan_->checked(i).type->is_input) inputs_.push_back(i);
}

Call::~Call() {
  for (const auto& worker : idle_) memory_->let_go(worker->kept);
}

std::shared_ptr<const FedStep> Call::fed(std::vector<FedBatch> given, int64_t size) const {
  if (given.size() != inputs_.size())
    throw GraphError("the call has " + std::to_string(inputs_.size()) + " inputs, got " +
                     std::to_string(given.size()));
  auto step = std::make_shared<FedStep>(FedStep{size, {}});
  step->batches.resize(static_cast<size_t>(plan_->input_count()));
  for (size_t k = 0; k < given.size(); ++k) {
    FedBatch& b = given[k];
    const TensorType& type = input_type(k);
    if (std::cmp_not_equal(b.samples.size(), size))
      throw GraphError(node_in_words(plan_->node(inputs_[k])) + ": expected " +
                       std::to_string(size) + " samples, got " + std::to_string(b.samples.size()));
    bool is_dense = true;
    for (View& v : b.samples) {
      check_given(plan_->node(inputs_[k]), type, v);
      v.layout = type.layout;
      is_dense &= v.is_dense();
    }
    const int number = plan_->planned(inputs_[k]).input_number;
    if (number < 0) continue;  // no output needs it
    step->batches[static_cast<size_t>(number)] =
        std::make_shared<const FedBatch>(is_dense ? std::move(b) : b.copy());
  }
  return step;
}

Outputs Call::run(std::vector<FedBatch> given, int64_t size, const CallKey& key, Crew* crew) const {
  if (size < 1 || size > plan_->batch_size())
    throw GraphError("a call makes 1 to " + std::to_string(plan_->batch_size()) +
                     " samples at a time, got " + std::to_string(size));
  Run run(*this, fed(std::move(given), size), key, crew);
  Outputs out = run.make();
  if (out.is_lost) throw BatchError(std::move(out.failures), out.missing, size);
  for (const Batch& b : out.batches)
    for (const Sample& s : b.samples) memory_->pool().set_use(*s.owner, Use::kHeld);
  return out;
}

}  // namespace stoker
