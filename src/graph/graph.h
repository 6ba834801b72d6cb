// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What to run: operators as nodes, and the edges between them. Every front builds a Graph, and the
// engine sees nothing else.
#pragma once
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "op/operator_type.h"
#include "op/user_function.h"

namespace stoker {

// kMixed: the inputs are on the CPU, the output is on the GPU.
enum class DeviceKind : uint8_t { kCpu, kGpu, kMixed };
const char* name_of(DeviceKind d);
DeviceKind device_named(const std::string& name);  // throws GraphError

// An output of a node.
struct Ref {
  int node = -1, output = 0;
  auto operator<=>(const Ref&) const = default;
};

// An output of the graph.
struct Output : Ref {
  Output(const Ref& from, bool to_host = false) : Ref(from), to_host(to_host) {}
  Output(int node, int output) : Ref{node, output} {}
  bool to_host = false;  // a value on a device is copied to the host
};

struct ArgumentLink {
  std::string argument;
  Ref from;
};

// What is guarded is made only for the samples whose condition has this truth: see Note [Guards].
struct Guard {
  Ref condition;  // one number: true unless it is 0
  bool when = true;
  auto operator<=>(const Guard&) const = default;
};
// The truth of a condition's value. Throws SampleError if that is not one number.
inline bool is_true(const View& condition) {
  bool x = false;
  from_tensor(condition, x);
  return x;
}

struct Side;

struct Node {
  std::string op;  // the schema's name
  std::string name;  // unique in a graph as given; what check() adds for a node has its name
  std::string key;  // decides its chance: "crop/seed:7", "name:x" or "crop#0"
  DeviceKind device = DeviceKind::kCpu;
  bool is_lead = false;  // the reader whose positions count
  Arguments arguments;  // as given; add() adds the defaults
  std::vector<std::optional<Ref>> inputs;
  std::vector<ArgumentLink> links;  // arguments that other nodes compute
  std::vector<Guard> guards;  // all must hold; add() adds those of what the node reads
  // Nodes without a seed or a name of their own are numbered within their scope, such as a branch
  // or a function that adds nodes. It is part of the key, and not of the saved form.
  std::string scope;
  std::string where;  // the user's line of code, for messages
  int version = 1;  // the operator's, when the graph was made
  // Of an operator that is user code. It is not part of the saved form.
  std::shared_ptr<UserFunction> function;
  // What check() sets: Note [Sides that differ]. For which sides of merges it is made, outermost
  // first, whose guards are among its own; and its number in the graph that was given, or -1 for a
  // node that is not there.
  std::vector<Side> sides;
  int given = -1;
};

// Note [Sides that differ]
// Both sides of a merge may differ in dtype, number of axes or layout, as long as they do not meet
// in a batch. Types of edges are known before the run all the same: check() leaves such a merge
// out, and adds what reads it twice, once for each side and guarded by the merge's predicate. Where
// both have come to one type again, as behind a cast, a merge makes one value of them, and what
// follows is there once. An output of the graph that has not come to one type is several values, of
// which each sample has one; so is what an operator that sees whole batches reads. If samples of
// one batch then have different types, the step is lost.

// A merge whose sides differ.
struct Fork {
  Node merge;  // as it was given, but for its edges
  Ref condition;  // the predicate
  TensorType if_true, if_false;  // of a side that differs again: of one of its own
};
struct Side {
  std::shared_ptr<const Fork> fork;
  bool when = true;
  Guard guard() const { return {fork->condition, when}; }
};

class Graph {
 public:
  std::vector<Node> nodes;
  std::vector<Output> outputs;

  // Completes arguments, name and key, and appends the node. Its inputs must exist already, so
  // nodes are in topological order. The key comes from `seed` or a given name. Throws GraphError.
  int add(Node node);
  std::vector<std::string> output_names(int node) const;
  int output_count(int node) const { return static_cast<int>(output_names(node).size()); }
  bool has(const Ref& r) const {
    return r.node >= 0 && r.node < static_cast<int>(nodes.size()) && r.output >= 0 &&
           r.output < output_count(r.node);
  }

 private:
  void complete_name_and_key(Node& n) const;
  void complete_guards(const OperatorType& type, Node& n) const;

  std::unordered_set<std::string> names_;
  std::unordered_map<std::string, int> counts_;  // by operator: its nodes
  std::unordered_map<std::string, int> counts_in_scope_;  // by scope and operator: its nodes
};

// Note [Guards]
// Each sample decides a conditional for itself. A node in a branch has a guard, and so has every
// node that reads its output, up to a `merge`: that gives, for each sample, the value of the side
// that its predicate names. Whoever runs nodes leaves out those whose guards do not hold, and shows
// to a node that sees whole batches only the samples that it is for. An output of the graph has no
// guards.

// Note [Values for the CPU]
// Arguments and inputs that are values (Port::is_value) are needed on the CPU before shapes are
// known. A node with device="gpu" may still give such a value. The engine then makes it, and all
// that it depends on, a second time by CPU halves, so nothing waits for the device. Draws,
// constants, copies and casts of integers have the same bits on both; tests/conformance/test_gpu.py
// says how closely other arithmetic agrees. What has no CPU half, such as pictures from a device's
// decoder, is copied to the host: Note [Stages] (run/plan/plan.h).

// A node with its operator and the types of its edges. Immutable.
struct CheckedNode {
  const OperatorType* type = nullptr;
  std::unique_ptr<Operator> op;
  std::vector<TensorType> inputs, outputs;  // an extent of -1 is not known before the run
  std::string warning;  // of Checker
  std::vector<char> holds_classes;  // by output: see Note [Class numbers] (op/classes.h)
  std::vector<int> link_arguments;  // by link: index of the argument
  bool unfold = false;  // the engine calls the operator for each frame
  std::vector<char> sequences;  // by input: whether the engine takes a leading F off
  std::vector<char> frame_values;  // by input: whether each frame has a value of its own
  bool sees_batch = false;  // OperatorType::sees_batch
  // The node is on the CPU, or its CPU half can make the value: see Note [Values for the CPU].
  bool has_cpu_form = true;
  uint64_t key = 0;  // hash of Node::key
  std::optional<bool> truth;  // as a condition, where that is known and the same for all samples
  bool has_own_seed = false;  // the key names a seed, and no other has a part in its chance

  // The type of an output of such frames. It has no layout if it had none before an argument made
  // frames of it.
  TensorType of_frames(const TensorType& frame, int64_t frames) const {
    TensorType t = sequence_type(frame, frames);
    const bool are_made = std::ranges::count(sequences, 1) == 0 && !inputs.empty();
    if (are_made && inputs[0].layout.empty() && frame.layout.empty()) t.layout = {};
    return t;
  }
  uint64_t seed(uint64_t of_pipeline) const { return has_own_seed ? 0 : of_pipeline; }
  bool lowers() const { return type->lowers && !sees_batch && !type->is_merge; }
  // Whether the output is a further one of an operator that lowers. The chain makes it on the CPU,
  // as soon as it knows the types, wherever the node runs.
  bool is_inferred(int output) const { return output > 0 && lowers(); }
};

// One of the values that an output of a graph may be.
struct Variant {
  Ref value;
  std::vector<Side> sides;  // where it is that one, outermost first
};

struct CheckedGraph {
  // What is to be done. Its outputs are the variants of those that were given.
  Graph graph;
  std::vector<CheckedNode> nodes;  // of `graph`
  std::vector<std::vector<Variant>> variants;  // by output that was given; as a rule there is one
  // By node that was given and by output: the types of its variants.
  std::vector<std::vector<std::vector<TensorType>>> types;
};

// Throws GraphError that names the operator, its instance and the user's line.
CheckedGraph check(const Graph& graph);

// Why samples of both sides may not meet in a batch.
std::string meeting_in_words(const Graph& graph, const Fork& fork);

// "crop 'crop_0' (train.py:12)"
std::string node_in_words(const Node& node);
// "'coin_flip_0' is true and 'constant_1' is false"
std::string guards_in_words(const Graph& graph, const Node& node);

// The saved form is versioned JSON with every argument. load_graph runs no code, reads every
// version ever written, and throws GraphError on anything else. `options` is the pipeline's own
// part: JSON text, kept as it is.
std::string save_graph(const Graph& graph, const std::string& options);
Graph load_graph(const std::string& text, std::string& options);

}  // namespace stoker
