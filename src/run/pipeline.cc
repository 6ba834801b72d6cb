// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/pipeline.h"

#include <random>

#include "device/pinned_allocator.h"
#include "run/affinity.h"
#include "run/machine.h"
#include "run/state.h"
#include "run/step/no_room.h"
#include "run/step/step.h"

namespace stoker {

namespace {

constexpr size_t kLeastSpared = size_t{256} << 20;

int64_t drawn_seed() {
  std::random_device d;
  return static_cast<int64_t>((static_cast<uint64_t>(d()) << 32 | d()) >> 1);
}

// The settings, with those decided that are left to the pipeline.
PipelineOptions in_use(PipelineOptions o, std::optional<int64_t> seed) {
  check_options(o);
  if (!o.batch_size) throw GraphError("batch_size is required");
  if (!o.num_threads) o.num_threads = allowed_cpus(static_cast<int>(usable_cpus().size()));
  if (!o.io_threads) o.io_threads = 2;
  if (!o.seed) o.seed = seed ? *seed : drawn_seed();
  if (!o.memory_limit) o.memory_limit = static_cast<int64_t>(allowed_memory() / 2);
  return o;
}

ExecutorOptions executor_options(const PipelineOptions& settings, std::optional<int64_t> seed) {
  ExecutorOptions e{.settings = in_use(settings, seed)};
  const PipelineOptions& o = e.settings;
  e.output_limit = MemoryShares::kBatches.of(o.memory_limit);
  e.scratch_limit = MemoryShares::kScratch.of(o.memory_limit);
  const int64_t read_ahead = o.read_ahead_limit.value_or(int64_t{*o.num_threads} << 24);
  e.read_ahead_limit = std::min(read_ahead, MemoryShares::kAhead.of(o.memory_limit));
  e.device_id = o.device_id.value_or(0);
  if (o.device_memory_limit) e.device_limit = o.device_memory_limit;
  return e;
}

// Says what is missing and which node needs it before anything is opened.
void require_device(const Graph& graph, int device_id) {
  const auto on_gpu = std::find_if(graph.nodes.begin(), graph.nodes.end(),
                                   [](const Node& n) { return n.device != DeviceKind::kCpu; });
  if (on_gpu == graph.nodes.end()) return;
  try {
    (void)device(device_id);
  } catch (const DeviceError& e) {
    throw DeviceError(node_in_words(*on_gpu) + " runs on a GPU, but " + e.what());
  }
}

// The device that the pipeline works for, or null.
const Device* device_of(const Plan& plan, std::optional<int> device_id) {
  if (!plan.has_device_stage() && !device_id) return nullptr;
  const std::vector<Device*> all = devices();
  const auto at = static_cast<size_t>(device_id.value_or(0));
  return at < all.size() ? all[at] : nullptr;
}

std::shared_ptr<HostAllocator> allocator_for(const Plan& plan, const ExecutorOptions& options) {
  if (!plan.has_device_stage()) return system_allocator();
  return std::make_shared<PinnedAllocator>(device(options.device_id));
}

}  // namespace

class Pipeline::OneCaller {
 public:
  explicit OneCaller(const Pipeline& p) : p_(p) {
    p.check_process();
    if (p.busy_.exchange(true))
      throw StateError("two threads use one pipeline at once; give each its own");
  }
  ~OneCaller() { p_.busy_ = false; }

 private:
  const Pipeline& p_;
};

Pipeline::Pipeline(const Graph& graph, const PipelineOptions& options,
                   std::optional<int64_t> drawn_seed)
    : options_(executor_options(options, drawn_seed)),
      seed_is_drawn_(!options.seed),
      pid_(getpid()) {
  const PipelineOptions& o = settings();
  require_device(graph, options_.device_id);
  plan_ = std::make_shared<const Plan>(graph, PlanOptions{.batch_size = *o.batch_size,
                                                          .shard_id = o.shard_id,
                                                          .num_shards = o.num_shards,
                                                          .rewrites = {o.demand, o.fuse}});
  if (o.set_affinity && is_pipelined()) {
    Affinity affinity = affinity_for(*o.num_threads, device_of(*plan_, o.device_id), usable_cpus());
    options_.worker_cpus = std::move(affinity.cpus);
    affinity_words_ = std::move(affinity.words);
  }
  for (int r = 0; r < plan_->reader_count() && o.num_shards > 1; ++r)
    if (plan_->order(r).spec().num_shards == 1)
      throw GraphError("Pipeline: num_shards=" + std::to_string(o.num_shards) +
                       " has no effect on a reader: give shard_id and num_shards to " +
                       node_in_words(plan_->node(plan_->reader_node(r))));
  pool_ = std::make_unique<HostPool>(options_.output_limit, allocator_for(*plan_, options_));
  size_t fed_limit = MemoryShares::kAhead.of(o.memory_limit);
  if (plan_->reader_count() && plan_->input_count()) {
    fed_limit /= 2;
    options_.read_ahead_limit = std::min(options_.read_ahead_limit, fed_limit);
  }
  if (plan_->reader_count()) keep_jpeg_indexes(fed_limit);
  feeds_ = std::make_unique<Feeds>(plan_, fed_limit);
  cursors_.assign(plan_->order_count(), 0);
}

// What is known of files is a part of reading ahead, which has `share` for both.
void Pipeline::keep_jpeg_indexes(size_t share) {
  const size_t limit = std::min(static_cast<size_t>(settings().jpeg_index_limit), share / 4);
  if (limit == 0) return;
  jpeg_indexes_ = std::make_unique<EntropyIndexes>(limit, EntropyIndexes::kEvery);
  options_.jpeg_indexes = jpeg_indexes_.get();
  options_.read_ahead_limit = std::min(options_.read_ahead_limit, share - limit);
}

Pipeline::~Pipeline() {
  if (getpid() == pid_) return;
  (void)executor_.release();  // its threads exist only in the parent
  (void)feeds_.release();  // threads of the parent may have waited in it
}

void Pipeline::check_process() const {
  if (getpid() != pid_)
    throw StateError(
        "this pipeline was built before a fork; build one in the child process instead");
}

Executor& Pipeline::executor() {
  if (!executor_)
    executor_ = (is_pipelined() ? make_pipelined
                                : make_simple)({plan_, options_, *pool_, cursors_, *feeds_});
  return *executor_;
}

std::optional<Outputs> Pipeline::run(const std::function<bool()>& interrupted) {
  const OneCaller caller(*this);
  try {
    return run_step(interrupted);
  } catch (const NoRoom& e) {
    bool is_interrupted = false;
    const auto need = need_of_step([&] { return is_interrupted = interrupted(); });
    if (is_interrupted) return std::nullopt;
    if (!need) throw;
    throw e.with_limit(MemoryShares::kBatches.limit_for(pool_->usage().in_use + *need));
  }
}

// How many bytes the batches of the next step take; none if unknown. If a step has several stages,
// makes it once more, with as much memory as can be spared. So nothing else holds any, the executor
// ends. If it has one, what that needed is known already, and memory_limit holds.
std::optional<size_t> Pipeline::need_of_step(const std::function<bool()>& interrupted) {
  if (plan_->stage_count() == 1) return std::nullopt;
  for (int i = 0; i < plan_->size(); ++i)
    if (const auto& f = plan_->node(i).function; f && f->is_stateful()) return std::nullopt;
  executor_.reset();
  pool_->trim();
  ExecutorOptions options = options_;
  options.output_limit = options.scratch_limit =
      std::min(free_memory() / 2, std::max(16 * options_.output_limit, kLeastSpared));
  try {
    HostPool pool(options.output_limit, allocator_for(*plan_, options));
    const std::unique_ptr<Executor> once = make_simple({plan_, options, pool, cursors_, *feeds_});
    while (!once->wait(50))
      if (interrupted()) return std::nullopt;
    (void)once->take_step();
    return pool.usage().high_water;
  } catch (...) {
    return std::nullopt;  // it needs even more, or fails for another reason
  }
}

std::optional<Outputs> Pipeline::run_step(const std::function<bool()>& interrupted) {
  for (;;) {
    if (meet_marker()) return Outputs{.is_end = true};
    feeds_->complete();
    const bool is_ready = executor().wait(50);
    // Before the step is taken, which would then be lost.
    if (interrupted()) return std::nullopt;
    // While waiting, an epoch may have ended, and the step after that may be ready already.
    if (is_ready && !feeds_->is_at_marker()) return take_step();
  }
}

// Returns true at the end of an epoch of what is fed.
bool Pipeline::meet_marker() {
  if (!feeds_->is_at_marker()) return false;
  try {
    return feeds_->meet_marker();
  } catch (...) {
    // The failure took up a step, so every order moves on by one.
    executor_.reset();
    cursors_ = plan_->cursors_after(cursors_, 1);
    throw;
  }
}

Outputs Pipeline::take_step() {
  Outputs out;
  try {
    naming_step(step_in_words(*plan_, cursors_), [&] {
      out = executor_->take_step();
      if (out.copied) out.copied->synchronize();
    });
    out.copied.reset();
  } catch (...) {
    executor_.reset();  // the step was not received: the next run() makes it again
    throw;
  }
  cursors_ = out.next;
  feeds_->receive();
  const bool is_dropped = out.is_lost && settings().error_policy().drops_empty_steps();
  note(out, is_dropped);
  if (out.is_lost && !is_dropped)
    throw BatchError(std::move(out.failures), out.missing, out.size, settings().error_policy());
  return out;
}

void Pipeline::note(const Outputs& out, bool is_dropped) {
  dropped_ += is_dropped;
  for (const SampleFailure& f : out.failures) {
    ++failures_;
    const bool is_batch = f.in_batch < 0;
    if (is_batch && !is_dropped) continue;  // it is raised, and no sample is to blame
    if (quarantine_.empty() && settings().error_policy().continues())
      notice_ = "on_error='" + std::string(settings().error_policy().name()) + "':" + in_words(f) +
                "\nThis is said once; quarantine() lists all";
    const int64_t index = plan_->reader_count() ? f.index : 0;
    Quarantined& q = quarantine_[{is_batch ? -1 : index, f.instance}];
    q.last = f;
    ++q.times;
  }
  for (const SampleRemark& r : out.remarks)
    if (remarked_.emplace(r.found.instance, r.advice).second)
      remarks_.push_back("a sample is doubtful:" + in_words(r.found) + "; " + r.advice +
                         "\nThis is said once, of the first such sample");
}

Feeds& Pipeline::feeds() {
  check_process();
  return *feeds_;
}

void Pipeline::schedule() {
  const OneCaller caller(*this);
  executor().schedule();
}

void Pipeline::skip(int64_t steps) {
  const OneCaller caller(*this);
  executor_.reset();
  feeds_->clear();
  cursors_ = plan_->cursors_after(cursors_, steps);
}

void Pipeline::stop() {
  const OneCaller caller(*this);
  executor_.reset();
}

std::string Pipeline::state() const {
  const OneCaller caller(*this);
  return save_state(*plan_, seed(), cursors_);
}

std::vector<std::string> Pipeline::restore(const std::string& text, bool force) {
  const OneCaller caller(*this);
  RestoredState s = load_state(text, *plan_, seed(), seed_is_drawn_, force);
  executor_.reset();
  feeds_->clear();
  cursors_ = std::move(s.cursors);
  options_.settings.seed = static_cast<int64_t>(s.seed);
  return std::move(s.warnings);
}

std::string Pipeline::plan_in_words() const {
  std::string s = "settings: " + settings_in_words(settings()) + "\n" + plan_->str();
  if (!plan_->mixed_nodes().empty())
    s += "mixed: " + decoder_kind(device(options_.device_id)).words + "\n";
  if (!affinity_words_.empty()) s += "workers: " + affinity_words_ + "\n";
  return s;
}

int64_t Pipeline::steps_left() const {
  return plan_->order(plan_->lead()).steps_left(cursors_[plan_->lead()]);
}

bool Pipeline::begins_epoch() const {
  return plan_->order(plan_->lead()).begins_epoch(cursors_[plan_->lead()]);
}

ReaderMeta Pipeline::reader_meta(const std::string& name) const {
  for (int r = 0; r < plan_->reader_count(); ++r) {
    if (name.empty() ? r != plan_->lead() : plan_->node(plan_->reader_node(r)).name != name)
      continue;
    const io::OrderSpec& s = plan_->order(r).spec();
    const int64_t shards = s.num_shards;
    const bool pads = s.end == io::OrderSpec::EpochEnd::kPad;
    const int64_t padded = pads ? (s.size + shards - 1) / shards * shards : s.size;
    return {s.size, padded, s.num_shards, s.shard_id, pads, s.stick_to_shard || s.same_share};
  }
  std::vector<std::string> names;
  for (int r = 0; r < plan_->reader_count(); ++r)
    names.push_back(plan_->node(plan_->reader_node(r)).name);
  if (names.empty()) throw_fault<GraphError>(Fault::kKey, "the pipeline has no reader");
  throw_fault<GraphError>(Fault::kKey,
                          "no reader is named '" + name + "'." + did_you_mean(name, names));
}

std::vector<Pipeline::Quarantined> Pipeline::quarantine() const {
  std::vector<Quarantined> all;
  for (auto& [key, q] : quarantine_) all.push_back(q);
  return all;
}

Pipeline::Stats Pipeline::stats() const {
  check_process();
  Stats s;
  if (executor_) s.executor = executor_->stats();
  for (int i = 0; i < plan_->size(); ++i)
    s.nodes.push_back(
        {plan_->node(i).op, plan_->node(i).name, executor_ ? executor_->node_ns(i) : 0});
  s.memory_limit = settings().memory_limit;
  s.scratch_limit = options_.scratch_limit;
  s.read_ahead_limit = options_.read_ahead_limit;
  s.batches = pool_->usage();
  s.fed = feeds_->usage();
  s.fed_limit = plan_->input_count() ? s.fed.limit : 0;
  if (jpeg_indexes_) s.jpeg_indexes = jpeg_indexes_->statistics();
  s.failures = failures_;
  s.dropped = dropped_;
  if (!plan_->mixed_nodes().empty()) s.decoder = decoder_kind(device(options_.device_id)).name;
  return s;
}

void Pipeline::trim() {
  const OneCaller caller(*this);
  if (executor_) executor_->trim();
  else if (plan_->has_device_stage()) device(options_.device_id).trim();
  pool_->trim();
}

}  // namespace stoker
