// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A graph that is being run. A second caller at a time gets StateError, and so does a forked child.
#pragma once
#include <atomic>
#include <map>
#include <set>

#include "run/executors/executor.h"
#include "run/feed/feed.h"
#include "run/step/batch_error.h"

namespace stoker {

struct ReaderMeta {
  int64_t epoch_size, epoch_size_padded;  // padded: to equal shards, if the reader pads
  int number_of_shards, shard_id;
  bool pad_last_batch, stick_to_shard;
};

class Pipeline {
 public:
  // Checks the settings and the graph, and opens the readers. Throws GraphError. The first run()
  // starts the threads. `drawn_seed` serves if the options have no seed, instead of drawing one.
  Pipeline(const Graph& graph, const PipelineOptions& options,
           std::optional<int64_t> drawn_seed = {});
  // Joins the threads within the time of one sample. In a forked child it does nothing.
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  // Gives the next step. With `is_end` set there is none, because a source ended its epoch. With
  // `is_lost` set, which only on_error=drop does, no sample of the step is left and it was dropped;
  // whoever counts steps or epochs has to see it. Throws BatchError (on_error=raise, or no sample
  // of the step is left), BudgetError, DeviceError, SourceError (nothing was fed), and what was
  // given to Feeds::fail(). `interrupted` is asked about every 50 ms and when the step is ready;
  // when it answers true, run() returns nothing, and no step is lost.
  std::optional<Outputs> run(const std::function<bool()>& interrupted = [] { return false; });
  void schedule();
  // Goes on behind so many steps, which are not made. What was fed and not received is dropped.
  void skip(int64_t steps);
  // Joins the threads and drops what was made ahead. The next run() starts them again.
  void stop();

  // What the user received so far, as JSON. restore() goes on after it, in constant time. It
  // returns warnings or throws StateError: Note [What a state goes on with] (run/state.h).
  std::string state() const;
  std::vector<std::string> restore(const std::string& state, bool force);

  // Any thread may feed while another one runs the pipeline.
  Feeds& feeds();

  const Plan& plan() const { return *plan_; }
  // Includes the settings in use, who decodes for a device and where workers run.
  std::string plan_in_words() const;
  const PipelineOptions& settings() const { return options_.settings; }  // in use
  uint64_t seed() const { return static_cast<uint64_t>(*settings().seed); }
  int64_t steps_left() const;  // in this epoch, with the next step
  bool begins_epoch() const;  // whether the next step is the first of an epoch of the lead reader
  ReaderMeta reader_meta(const std::string& name) const;  // "": the lead reader
  // Samples that could not be made, by sample and operator: the last failure, and how often. Also
  // dropped batches for which an operator failed, by operator.
  struct Quarantined {
    SampleFailure last;
    int64_t times = 0;
  };
  std::vector<Quarantined> quarantine() const;
  // In words, once: the first failure that no exception told of.
  std::string take_notice() { return std::exchange(notice_, ""); }
  // In words: what operators remark on good samples, each kind of remark once.
  std::vector<std::string> take_remarks() { return std::exchange(remarks_, {}); }
  struct NodeTime {
    std::string op, name;
    int64_t ns;
  };
  struct Stats {
    ExecutorStats executor;
    std::vector<NodeTime> nodes;
    size_t memory_limit, scratch_limit, read_ahead_limit, fed_limit;
    Usage batches, fed;
    int64_t failures, dropped;  // dropped: steps
    EntropyIndexes::Statistics jpeg_indexes;
    std::string decoder;  // DecoderKind::name, "" where nothing is decoded for a device
  };
  Stats stats() const;
  // What is known of JPEG files, to save and to add to; null where nothing is kept.
  EntropyIndexes* jpeg_indexes() const { return jpeg_indexes_.get(); }
  // Gives back unused memory of the host and the device. Waits for the device's work.
  void trim();

 private:
  class OneCaller;  // one caller at a time, and not in a forked child
  void check_process() const;
  bool is_pipelined() const { return settings().executor == ExecutorKind::kPipelined; }
  void note(const Outputs& out, bool is_dropped);
  Executor& executor();
  void keep_jpeg_indexes(size_t share);
  bool meet_marker();
  std::optional<Outputs> run_step(const std::function<bool()>& interrupted);
  Outputs take_step();
  std::optional<size_t> need_of_step(const std::function<bool()>& interrupted);

  std::shared_ptr<const Plan> plan_;
  ExecutorOptions options_;
  const bool seed_is_drawn_;  // restore() then takes the saved seed
  std::string affinity_words_;
  std::unique_ptr<EntropyIndexes> jpeg_indexes_;  // null: nothing is kept
  std::unique_ptr<HostPool> pool_;
  std::unique_ptr<Feeds> feeds_;
  std::vector<int64_t> cursors_;  // after the steps that the user received
  // By index (0 without a reader, -1 for a batch) and operator, so that no long run makes it grow.
  std::map<std::pair<int64_t, std::string>, Quarantined> quarantine_;
  std::string notice_;
  std::vector<std::string> remarks_;
  std::set<std::pair<std::string, std::string>> remarked_;  // by instance and advice
  int64_t failures_ = 0, dropped_ = 0;
  int64_t pid_;
  mutable std::atomic<bool> busy_{false};
  std::unique_ptr<Executor> executor_;
};

}  // namespace stoker
