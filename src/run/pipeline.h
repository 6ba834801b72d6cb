// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A pipeline: a graph that is being run. One caller at a time; a second thread gets StateError, and
// so does a forked child.
#pragma once
#include <atomic>
#include <map>
#include <optional>

#include "run/executor.h"
#include "run/feed/feed.h"

namespace stoker {

struct PipelineOptions {
  int64_t batch_size = 1;
  int num_threads = 1;
  int prefetch_queue_depth = 2;  // steps in flight
  int io_threads = 2;
  std::optional<uint64_t> seed;  // none: one is drawn and kept in the state
  bool seed_is_drawn = false;  // set by the pipeline: a restored state brings its own
  std::string on_error = "raise";  // "raise", "skip", "replace"
  size_t memory_limit = 0;  // bytes of host memory; 0: half of the machine's
  size_t device_memory_limit = 0;  // bytes of the device; 0: all that it has
  // Bytes, at most an eighth of memory_limit. None: 16 MiB a thread, some hundred pictures each.
  std::optional<size_t> read_ahead_limit;
  std::string executor = "pipelined";  // or "simple"
  int shard_id = 0, num_shards = 1;  // of a pipeline without a reader
  std::optional<int> device_id;  // where the graph has operators on a GPU; none: the first
  bool set_affinity = false;  // workers run on CPUs near the device: run/affinity.h
  Rewrites rewrites = {};
};

// Samples that could not be made; raised once, at the hand-out of their batch. The pipeline goes
// on.
struct BatchError : SampleError {
  BatchError(std::vector<SampleFailure> samples, int64_t batch_size);
  std::vector<SampleFailure> samples;
};

struct ReaderMeta {
  int64_t epoch_size, epoch_size_padded;  // padded: to equal shards, where the reader pads
  int number_of_shards, shard_id;
  bool pad_last_batch, stick_to_shard;
};

class Pipeline {
 public:
  // Checks the graph, opens the readers. Throws GraphError. Starts no thread: the first run() does.
  Pipeline(Graph graph, const PipelineOptions& options);
  // Joins within one sample's time; in a forked child it leaves everything as it is.
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  // The next step; with `is_end` set there is none: a source of what is fed ended its epoch. Throws
  // BatchError (on_error=raise, or nothing left of a batch), BudgetError, DeviceError, SourceError
  // (nothing was fed), and what was given to Feeds::fail(). `interrupted` is asked every 50 ms
  // while waiting; when it answers true, run() returns nothing and no step is lost.
  std::optional<Outputs> run(const std::function<bool()>& interrupted = [] { return false; });
  void schedule();
  // Before any further run(): as if it had just been built, from where it stands; frees what was
  // ahead.
  void stop();

  // What the user received so far, as JSON. restore() goes on after it, in O(1), and returns
  // warnings or throws StateError: Note [What a state goes on with].
  std::string state() const;
  std::vector<std::string> restore(const std::string& state, bool force);

  // Any thread may feed while another one runs.
  Feeds& feeds();

  const Plan& plan() const { return *plan_; }
  std::string plan_in_words() const;  // and who decodes for a device, where workers run
  const PipelineOptions& options() const { return options_; }
  uint64_t seed() const { return *options_.seed; }
  int64_t steps_left() const;  // in this epoch, the coming one included
  ReaderMeta reader_meta(const std::string& name) const;  // "": the lead reader
  // What could not be made, by sample and operator: its last failure, and how many there were.
  struct Quarantined {
    SampleFailure last;
    int64_t times = 0;
  };
  std::vector<Quarantined> quarantine() const;
  struct NodeTime {
    std::string op, name;
    int64_t ns;
  };
  struct Stats {
    ExecutorStats executor;
    std::vector<NodeTime> nodes;
    size_t memory_limit, scratch_limit, read_ahead_limit, fed_limit;
    Usage batches, fed;
    int64_t failures;
    std::string decoder;  // DecoderKind::name, "" where nothing is decoded for a device
  };
  Stats stats() const;
  // Gives back what nothing uses, of the host and of the device; waits for what the device is
  // doing.
  void trim();

 private:
  class OneCaller;  // one caller at a time, and not in a forked child
  void check_process() const;
  void note(const std::vector<SampleFailure>& failures);
  Executor& executor();
  bool meet_marker();
  Outputs take();

  std::shared_ptr<const Plan> plan_;
  PipelineOptions options_;
  ExecutorOptions executor_options_;
  std::string affinity_words_;
  std::unique_ptr<HostPool> pool_;
  std::unique_ptr<Feeds> feeds_;
  std::vector<int64_t> cursors_;  // after what the user received
  // By index of the sample (0 without a reader) and operator: so no run, however long, fills the
  // memory.
  std::map<std::pair<int64_t, std::string>, Quarantined> quarantine_;
  int64_t failures_ = 0;
  int64_t pid_;
  mutable std::atomic<bool> busy_{false};
  std::unique_ptr<Executor> executor_;
};

}  // namespace stoker
