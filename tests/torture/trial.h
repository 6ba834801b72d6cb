// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What is tried: a graph, its data and the ways in which it is run. A trial is a value that has a
// text.
#pragma once
#include "graph/graph.h"

namespace stoker::torture {

// Calls field(name, member) for each member of the structs below. Their texts name the members that
// differ from the defaults.

struct MadeFile {
  std::string kind = "plain";  // the kinds are in draw/files.cc
  std::string damage = "none";
  int width = 8, height = 8;
  int64_t seed = 1;

  template <class Self, class Field>
  static void each(Self& s, Field field) {
    field("kind", s.kind), field("damage", s.damage), field("width", s.width);
    field("height", s.height), field("seed", s.seed);
  }
};

// What an input node is fed.
struct Fed {
  int node = 0;
  DType dtype = DType::kUint8;
  Layout layout;
  Small<int64_t> shape;  // of a sample; the largest one where they vary
  bool varies = false;  // extents are drawn for each sample, up to those of `shape`
  // "range": from `low` to `high`; "bits": any; "odd": NaN, infinities, the ends of the dtype;
  // "files": the bytes of the made files.
  std::string values = "range";
  double low = 0, high = 9;
  bool whole = true;  // of a range: only whole numbers
  std::string memory = "dense";  // the forms are in draw/arrays.cc
  bool copy = true;
  int64_t seed = 1;

  template <class Self, class Field>
  static void each(Self& s, Field field) {
    field("node", s.node), field("dtype", s.dtype), field("layout", s.layout);
    field("shape", s.shape), field("varies", s.varies), field("values", s.values);
    field("low", s.low), field("high", s.high), field("whole", s.whole);
    field("memory", s.memory), field("copy", s.copy), field("seed", s.seed);
  }
};

// One way to run the graph. The defaults are those of the judge.
struct Way {
  std::string executor = "simple";
  int threads = 1, depth = 1, io_threads = 1;
  bool demand = false, fuse = false;
  int64_t batch = 0;  // 0: the trial's
  int shards = 1, shard = 0;  // several: a batch has the trial's number of samples in all shards
  int resume_at = -1;  // before this step a new pipeline goes on from the state
  int stop_at = -1;  // before this step the pipeline stops and gives back its memory
  int ahead = 1;  // how many steps are fed before they are asked for
  bool saved = false;  // the graph is saved and loaded before
  bool holds = false;  // batches are looked at only when all steps were run
  bool schedules = false;  // schedule() is called before run()
  bool delays = false;  // the device's streams pause at random
  bool on_cpu = false;  // no node is on the device
  int64_t read_ahead = -1;  // bytes; -1: the default

  template <class Self, class Field>
  static void each(Self& s, Field field) {
    field("executor", s.executor), field("threads", s.threads), field("depth", s.depth);
    field("io_threads", s.io_threads), field("demand", s.demand), field("fuse", s.fuse);
    field("batch", s.batch), field("shards", s.shards), field("shard", s.shard);
    field("resume_at", s.resume_at), field("stop_at", s.stop_at), field("ahead", s.ahead);
    field("saved", s.saved), field("holds", s.holds), field("schedules", s.schedules);
    field("delays", s.delays), field("on_cpu", s.on_cpu);
    field("read_ahead", s.read_ahead);
  }
};

struct Common {
  int64_t seed = 1, batch = 1;
  int steps = 1;
  std::string on_error = "raise";
  bool short_batches = false;  // batches that are fed differ in size; only without a reader
  int epoch_end = -1;  // before this step an input's epoch ends
  bool fake_decoder = false;  // device="mixed" has a decoder for devices, else the CPU's
  int64_t memory = 64 << 20;  // bytes
  int repeats = 0;  // how often the first way is run again, to see whether memory grows

  template <class Self, class Field>
  static void each(Self& s, Field field) {
    field("seed", s.seed), field("batch", s.batch), field("steps", s.steps);
    field("on_error", s.on_error), field("short_batches", s.short_batches);
    field("epoch_end", s.epoch_end), field("fake_decoder", s.fake_decoder);
    field("memory", s.memory), field("repeats", s.repeats);
  }
};

struct Trial {
  Common common;
  std::vector<MadeFile> files;
  std::vector<Node> nodes;  // only op, device, arguments, inputs and links
  std::vector<Fed> feeds;
  std::vector<Output> outputs;
  std::vector<Way> ways;  // each is compared with the judge, which is Way{}

  bool uses_device() const;
  bool has(OperatorKind kind) const;
  bool calls_functions() const;
  // Whether samples may depend on their batch.
  bool may_see_batch() const;
  bool has_sides_that_differ() const;
};

// One line for each part; read() takes it back. Throws std::runtime_error, GraphError.
std::string to_text(const Trial& trial);
Trial read(const std::string& text);

// Readers find the made files in `folder`. Throws GraphError.
Graph graph_of(const Trial& trial, const Way& way, const std::string& folder);

}  // namespace stoker::torture
