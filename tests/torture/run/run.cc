// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run.h"

#include <typeinfo>

#include "../draw/arrays.h"
#include "run/device/mixed_testing.h"

namespace stoker::torture {

namespace {

// Two simulated devices for the whole process. The second one's streams pause at random.
SimulatedDevice& simulated_device(int id) {
  static const bool is_made = [] {
    use_simulated_devices(2, {.timeline_limit = 16});
    dynamic_cast<SimulatedDevice&>(device(1)).delay_all(1, std::chrono::microseconds(50));
    return true;
  }();
  (void)is_made;
  return dynamic_cast<SimulatedDevice&>(device(id));
}

// The device of a run, and its decoder.
class OwnDevice {
 public:
  OwnDevice(const Trial& t, const Way& way) : device_(simulated_device(way.delays)) {
    if (t.common.fake_decoder) FakeDecoder::install();
  }
  ~OwnDevice() { use_device_decoders(nullptr); }
  // What is left on the device when nothing uses it; "" if nothing is.
  std::string left() const {
    if (const size_t bytes = device_.usage().in_use)
      return std::to_string(bytes) + " bytes of device memory are left";
    if (const int alive = FakeDecoder::state().alive)
      return std::to_string(alive) + " prepared pictures are left";
    return "";
  }

 private:
  SimulatedDevice& device_;
};

std::vector<std::string> bytes_of(const Batch& b) {
  std::vector<std::string> all;
  if (b.on_device) {
    for (size_t i = 0; i < b.samples.size(); ++i) all.push_back(on_host(b, i));
    return all;
  }
  for (const Sample& s : b.samples)
    all.emplace_back(s.view.as<char>(), static_cast<size_t>(s.view.bytes()));
  return all;
}

class Runner {
 public:
  Runner(const Trial& t, const Way& way, const std::string& folder)
      : t_(t), way_(way), graph_(graph_of(t, way, folder)) {
    const int64_t whole = way.batch > 0 ? way.batch : t.common.batch;
    steps_ = static_cast<int>((t.common.steps * t.common.batch + whole - 1) / whole);
    options_.batch_size = whole / way.shards;
    options_.num_threads = way.threads;
    options_.prefetch_queue_depth = way.depth;
    options_.io_threads = way.io_threads;
    options_.seed = t.common.seed;
    set_settings(options_, {{"on_error", t.common.on_error}, {"executor", way.executor}});
    options_.memory_limit = t.common.memory;
    if (way.read_ahead >= 0) options_.read_ahead_limit = way.read_ahead;
    options_.num_shards = way.shards;
    options_.shard_id = way.shard;
    options_.demand = way.demand;
    options_.fuse = way.fuse;
    if (t.uses_device() && !way.on_cpu) options_.device_id = way.delays;
    if (way.saved) {
      std::string none;
      graph_ = load_graph(save_graph(graph_, "{}"), none);
    }
  }

  void run(Record& record) {
    begin();
    note_orders(record);
    try {
      run_steps(record);
    } catch (...) {
      look(record);
      throw;
    }
    record.state = pipe_->state();
    ask();
  }

 private:
  void run_steps(Record& record) {
    for (int step = 0; step < steps_; ++step) {
      if (step == way_.resume_at) resume(step, record);
      if (step == way_.stop_at) {
        pipe_->stop();
        pipe_->trim();
      }
      feed(step + way_.ahead);
      if (way_.schedules) pipe_->schedule();
      while (!take(step, record)) continue;
    }
    look(record);
  }

  void begin() { pipe_ = std::make_unique<Pipeline>(graph_, options_); }

  void note_orders(Record& record) const {
    record.deals = record.has_all = true;
    for (int r = 0; r < pipe_->plan().order_count(); ++r) {
      const io::Order& order = pipe_->plan().order(r);
      record.deals &= !order.contiguous() && order.spec().end == io::OrderSpec::EpochEnd::kContinue;
      record.has_all &= order.spec().num_shards == 1;
      if (r < pipe_->plan().reader_count()) record.orders.push_back(order.spec());
    }
  }

  void resume(int step, Record& record) {
    const std::string state = pipe_->state();
    look(record);
    begin();
    fed_ = step;
    if (const auto warnings = pipe_->restore(state, false); !warnings.empty())
      record.wrong = "restore() warns: " + warnings[0];
  }

  void feed(int end) {
    for (; fed_ < std::min(end, steps_); ++fed_) {
      bool ends = fed_ == t_.common.epoch_end;
      for (const Fed& f : t_.feeds) {
        const int input = pipe_->feeds().input(graph_.nodes[static_cast<size_t>(f.node)].name);
        if (input < 0) continue;
        if (std::exchange(ends, false)) pipe_->feeds().end_epoch(input);
        pipe_->feeds().feed(input, batch(f), f.copy, 0);
      }
    }
  }

  FedBatch batch(const Fed& f) const {
    FedBatch b;
    auto owners = std::make_shared<std::vector<std::shared_ptr<std::vector<std::byte>>>>();
    const int64_t first = (int64_t{fed_} * way_.shards + way_.shard) * *options_.batch_size;
    for (int64_t i = 0; i < size_of(fed_); ++i) {
      FedArray array = make_array(f, t_.files, first + i);
      b.samples.push_back(array.view);
      owners->push_back(std::move(array.owner));
    }
    b.owner = std::move(owners);
    return b;
  }

  int64_t size_of(int step) const {
    if (!t_.common.short_batches || pipe_->plan().input_count() == 0) return *options_.batch_size;
    Dice dice(mix(static_cast<uint64_t>(t_.common.seed), static_cast<uint64_t>(step)));
    return dice.between(1, *options_.batch_size);
  }

  // Returns false after the end of an epoch, which is no step.
  bool take(int number, Record& record) {
    StepRecord& step = record.steps.emplace_back();
    try {
      std::optional<Outputs> out = pipe_->run();
      step.is_end = out->is_end;
      if (out->is_end) return false;
      note(out->failures, out->size, step);
      step.ends_epoch = out->ends_epoch;
      step.is_lost = out->is_lost;
      held_.push_back({record.steps.size() - 1, std::move(*out)});
      if (!way_.holds) look(record);
    } catch (const BatchError& e) {
      step.is_lost = true;
      note(e.samples, size_of(number), step);
    } catch (...) {
      record.steps.pop_back();
      throw;
    }
    return true;
  }

  static void note(const std::vector<SampleFailure>& failures, int64_t size, StepRecord& step) {
    step.slots.resize(static_cast<size_t>(size));
    for (const SampleFailure& f : failures)
      (f.in_batch < 0 ? step.failures : step.slots[static_cast<size_t>(f.in_batch)].failures)
          .push_back(f);
  }

  // Copies the bytes of the batches that are held, and drops these.
  void look(Record& record) {
    for (const auto& [step, out] : held_)
      for (const Batch& b : out.batches) {
        const std::vector<std::string> bytes = bytes_of(b);
        for (size_t i = 0; i < b.samples.size(); ++i) {
          const Sample& s = b.samples[i];
          SlotRecord& slot = record.steps[step].slots[static_cast<size_t>(s.in_batch)];
          slot.is_made = true;
          slot.index = s.index;
          slot.values.push_back({{s.view.dtype, s.view.layout, s.view.shape}, bytes[i]});
        }
      }
    held_.clear();
  }

  // What a user may ask at any time.
  void ask() const {
    (void)pipe_->stats();
    (void)pipe_->plan_in_words();
    (void)pipe_->quarantine();
    (void)pipe_->steps_left();
    pipe_->trim();
  }

  struct Held {
    size_t step;
    Outputs out;
  };
  const Trial& t_;
  const Way& way_;
  Graph graph_;
  PipelineOptions options_;
  int steps_ = 0, fed_ = 0;
  std::unique_ptr<Pipeline> pipe_;
  std::vector<Held> held_;  // gone before the pipeline
};

// `names_operator`: for errors that a graph, a sample or a source can cause. Memory and state
// belong to the whole pipeline.
void note_error(const Trial& t, const char* type, const std::string& message, bool names_operator,
                Record& record) {
  record.error = std::string(type) + ": " + message;
  const bool names = std::any_of(t.nodes.begin(), t.nodes.end(), [&](const Node& n) {
    return message.find(n.op) != std::string::npos;
  });
  if (names_operator && !names) record.wrong = "names no operator: " + record.error;
}

}  // namespace

Record run(const Trial& trial, const Way& way, const std::string& folder) {
  Record record;
  const OwnDevice own(trial, way);
  try {
    Runner(trial, way, folder).run(record);
  } catch (const BudgetError& e) {
    record.lacks_memory = true;
    note_error(trial, "BudgetError", e.what(), false, record);
  } catch (const GraphError& e) {
    note_error(trial, "GraphError", e.what(), true, record);
  } catch (const SourceError& e) {
    note_error(trial, "SourceError", e.what(), true, record);
  } catch (const std::exception& e) {
    record.wrong = std::string("an error of type ") + typeid(e).name() + ": " + e.what();
  }
  if (record.wrong.empty()) record.wrong = own.left();
  return record;
}

}  // namespace stoker::torture
