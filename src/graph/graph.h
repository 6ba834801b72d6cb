// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What to run: operator nodes and the edges between them. Every front builds this and the engine
// sees nothing else. A Graph is a value; not thread-safe while it is being built.
#pragma once
#include <memory>
#include <optional>

#include "op/op.h"

namespace stoker {

// kMixed: inputs on the CPU, output on the GPU.
enum class DeviceKind : uint8_t { kCpu, kGpu, kMixed };
// "cpu", "gpu", "mixed".
const char* name_of(DeviceKind d);
// Throws GraphError.
DeviceKind device_named(const std::string& name);

// An output of a node.
struct Ref {
  int node = -1, output = 0;
  auto operator<=>(const Ref&) const = default;
};

// What the whole graph gives.
struct Output : Ref {
  Output(const Ref& from, bool to_host = false) : Ref(from), to_host(to_host) {}
  Output(int node, int output) : Ref{node, output} {}
  bool to_host = false;  // copied there where it is on a device
};

struct ArgumentLink {
  std::string argument;
  Ref from;
};

struct Node {
  std::string op;  // the schema's name
  std::string name;  // unique in the graph
  std::string key;  // what its chance is keyed by: "crop/seed:7", "name:x" or "crop#0"
  DeviceKind device = DeviceKind::kCpu;
  bool is_lead = false;  // the source whose positions count
  Arguments arguments;  // as given; add() completes them with the defaults
  std::vector<std::optional<Ref>> inputs;
  std::vector<ArgumentLink> links;  // arguments that other nodes compute
  std::string where;  // the user's line, for messages
  int version = 1;  // of the operator, when the graph was made
};

class Graph {
 public:
  std::vector<Node> nodes;
  std::vector<Output> outputs;

  // Checks names, completes defaults, name and key, appends. Throws GraphError. Inputs must exist
  // already, so the nodes are always in topological order. `seed` or an explicit name makes the
  // key.
  int add(Node node);
  // How many outputs a node has.
  int output_count(int node) const;
};

// Note [Values for the CPU]
// Arguments and inputs that are values (Port::is_value) are needed on the CPU, before shapes are
// known. A node with device="gpu" may give them all the same: its CPU half makes the value there,
// with what it is made of, so nothing waits for the device. Draws, constants, copies and integer
// casts have the same bits on both sides; other arithmetic agrees as tests/conformance/test_gpu.py
// says. Pictures that a device's decoder makes have no such form: they are copied to the host
// (run/plan/plan.h, Note [Rounds]).

// A node that became an operator, with the types of its edges. Immutable.
struct CheckedNode {
  const OperatorType* type = nullptr;
  std::unique_ptr<Operator> op;
  std::vector<TensorType> inputs, outputs;  // extents of -1 are not known before the run
  std::vector<int> link_arguments;  // by link: index of the argument
  bool unfold = false;  // leading F taken off by the engine
  // On the CPU, or its CPU half can make it there: see Note [Values for the CPU].
  bool has_cpu_form = true;
  uint64_t key = 0;  // hash of Node::key
};

// Throws GraphError that names operator, instance and the user's line.
std::vector<CheckedNode> check(const Graph& graph);

// "crop 'crop_0' (train.py:12)"
std::string node_in_words(const Node& node);

// The saved form: versioned JSON with every argument. load_graph runs no code, takes every version
// ever written, and throws GraphError on anything else. `options` is the pipeline's own part, JSON
// text kept as it is.
std::string save_graph(const Graph& graph, const std::string& options);
Graph load_graph(const std::string& text, std::string& options);

}  // namespace stoker
