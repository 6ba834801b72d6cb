// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/graph.h"

#include <set>

#include "base/hash.h"
#include "op/op.h"
#include "op/output_names.h"

namespace stoker {

namespace {

std::string base_name(std::string op) {
  for (char& c : op)
    if (c == '.') c = '_';
  return op;
}

std::string scoped(const Node& n) { return n.scope.empty() ? n.op : n.scope + "/" + n.op; }

// Saved graphs and states hold them, as JSON.
void check_texts(const Node& n) {
  for (const std::string& text : {n.name, n.key, n.where})
    if (!is_utf8(text))
      throw GraphError("its name, key and place expect UTF-8, got '" + text + "'");
}

bool is_ignored(const OperatorType& type, const std::string& name) {
  return std::find(type.ignored.begin(), type.ignored.end(), name) != type.ignored.end();
}

// What the key begins with where the user gave a seed, which then decides the draws alone.
std::string seed_key(const OperatorType& type) { return type.draws_as + "/seed:"; }

// An operator that has no argument `seed` takes `seed=` as the name of its chance: equal seeds give
// equal draws.
void take_seed(const OperatorType& type, Node& n) {
  auto it = n.arguments.find("seed");
  if (it == n.arguments.end() || type.argument("seed") >= 0) return;
  int64_t seed = -1;
  detail::set_value("seed", {}, it->second, seed);
  if (seed >= 0) n.key = seed_key(type) + std::to_string(seed);
  n.arguments.erase(it);
}

// Adds the defaults of arguments that are not given, and drops ignored ones.
void complete_arguments(const OperatorType& type, Node& n) {
  Arguments all;
  for (const ArgumentInfo& a : type.arguments)
    if (!a.is_required) all[a.name] = a.fallback;
  for (auto& [name, value] : n.arguments) {
    if (type.argument(name) >= 0) all[name] = value;
    else if (!is_ignored(type, name)) detail::unknown_argument(type, name);
  }
  n.arguments = std::move(all);
}

void check_links(const OperatorType& type, const Node& n) {
  for (const ArgumentLink& link : n.links) {
    const int i = type.argument(link.argument);
    if (i < 0) detail::unknown_argument(type, link.argument);
    if (!type.arguments[i].per_sample)
      throw GraphError("argument '" + link.argument +
                       "' takes a constant, not the output of another operator");
  }
}

// Inputs of a repeating port are told apart by their numbers.
std::string input_in_words(const OperatorType& type, size_t i) {
  const Port& port = type.input(i);
  return (port.repeats ? "input " + std::to_string(i) + " of '" : "input '") + port.name + "'";
}

void check_inputs(const OperatorType& type, const Node& n) {
  size_t least = 0;
  for (const Port& p : type.inputs) least += !p.is_optional;
  if (n.inputs.size() >= least && n.inputs.size() <= type.most_inputs()) {
    for (size_t i = 0; i < n.inputs.size(); ++i)
      if (!n.inputs[i])
        throw GraphError(input_in_words(type, i) + " expects the output of an operator, got None");
    return;
  }
  std::string expected = std::to_string(least);
  if (least != type.most_inputs()) expected += " to " + std::to_string(type.most_inputs());
  throw GraphError("takes " + expected + (expected == "1" ? " input" : " inputs") + ", got " +
                   std::to_string(n.inputs.size()) +
                   (n.inputs.size() > least ? "; arguments are given by name, as in " +
                                                  std::string(type.name) + "(..., name=value)"
                                            : ""));
}

// Whether all that the node reads is there. `has(ref)`: it is an output of a node before it.
template <class Has>
void check_edges(const OperatorType& type, const Node& n, const Has& has) {
  const auto check = [&](const std::string& what, const Ref& r) {
    if (!has(r))
      throw GraphError(what + " expects an output of a node before it, got output " +
                       std::to_string(r.output) + " of node " + std::to_string(r.node));
  };
  for (size_t i = 0; i < n.inputs.size(); ++i)
    if (n.inputs[i]) check(input_in_words(type, i), *n.inputs[i]);
  for (const ArgumentLink& link : n.links) check("argument '" + link.argument + "'", link.from);
}

// The arguments to make the operator with. Required arguments that are computed per sample get a
// placeholder.
Arguments constants_of(const OperatorType& type, const Node& n) {
  Arguments a = n.arguments;
  for (const ArgumentLink& link : n.links) {
    const ArgumentInfo& info = type.arguments[type.argument(link.argument)];
    if (!info.is_required) continue;
    if (info.type.starts_with("Sequence")) a[link.argument] = std::vector<int64_t>{};
    else a[link.argument] = int64_t{1};
  }
  return a;
}

std::vector<std::string> outputs_of(const OperatorType& type, const Node& n) {
  return stoker::output_names(
      type, n.arguments, [&](size_t i) { return i < n.inputs.size() && n.inputs[i].has_value(); });
}

// Of an operator whose outputs follow from arguments: refuses those that give none, or more than
// there may be.
void check_outputs(const OperatorType& type, const Node& n) {
  if (type.outputs.empty()) return;
  const bool has_list = *type.outputs.back().for_each;
  if (has_list) type.make(constants_of(type, n));  // which says what else is wrong with it
  const size_t count = outputs_of(type, n).size();
  if (!has_list) {
    if (count > 0) return;
    std::string flags;
    for (const Port& p : type.outputs)
      flags += (flags.empty() ? "'" : "', '") + std::string(p.when);
    throw GraphError("the arguments " + flags + "' turn all outputs off");
  }
  if (count < 1 || count > kMostOutputs)
    throw GraphError(std::string("argument '") + type.outputs.back().for_each + "' asks for " +
                     (count ? "more than " + std::to_string(kMostOutputs) : "no") + " outputs");
}

std::string expectation(const Port& port) {
  std::string s;
  if (*port.dtypes) s += std::string(" dtype ") + port.dtypes;
  if (*port.layouts) s += std::string(s.empty() ? "" : ",") + " layout " + port.layouts;
  return s;
}

// Whether this is probably a file's bytes where pixels are expected.
bool looks_encoded(const Port& port, const TensorType& t) {
  return t.dtype == DType::kUint8 && t.shape.rank == 1 && *port.layouts &&
         default_layout(port, 1).empty();
}

// What to do about an input that does not fit, as far as that can be told.
std::string remedy(const Port& port, const TensorType& t, bool layout_fits) {
  if (looks_encoded(port, t))
    return ". Are these the bytes of a file? A decoder makes them a picture";
  if (layout_fits) return *port.layouts ? ". fn.cast converts it" : "";
  const bool lacks_channels =
      t.layout.empty() && default_layout(port, t.shape.rank + 1).str().ends_with('C');
  if (!lacks_channels) return "";
  return ". Are channels missing? fn.expand_dims(x, axes=" + std::to_string(t.shape.rank) +
         ", new_axis_names=\"C\") adds their axis";
}

// `found`: `t` before its frames were taken off.
void check_port(const OperatorType& type, size_t i, const TensorType& found, TensorType& t) {
  const Port& port = type.input(i);
  if (t.layout.empty() && *port.layouts) t.layout = default_layout(port, t.shape.rank);
  const bool layout_fits = !*port.layouts || accepts(port, t.layout);
  if (accepts(port, t.dtype) && layout_fits) return;
  throw GraphError(input_in_words(type, i) + " expects" + expectation(port) + ", got " +
                   found.str() + remedy(port, t, layout_fits));
}

void check_device(const OperatorType& type, DeviceKind device) {
  if (device == DeviceKind::kGpu && !type.has_gpu()) {
    if (type.reads || type.is_input)
      throw GraphError(
          "has no GPU form: its data begin on the CPU; use device=\"cpu\", and copy its outputs to "
          "the GPU");
    throw GraphError(std::string("has no GPU form; use device=") +
                     (type.is_mixed() ? "\"mixed\" or \"cpu\"" : "\"cpu\""));
  }
  if (device == DeviceKind::kMixed && !type.is_mixed())
    throw GraphError(std::string("has no mixed form; use device=\"cpu\"") +
                     (type.has_gpu() ? " or \"gpu\"" : ""));
}

bool has_frames(const TensorType& t) { return t.layout.str().starts_with('F'); }

// Whether the engine takes the frames of an input apart.
bool is_sequence(const Port& port, size_t i, const TensorType& t) {
  return has_frames(t) && (port.unfolds || (i == 0 && !accepts(port, t.layout)));
}

bool has_output(const std::vector<CheckedNode>& done, const Ref& r) {
  return r.node >= 0 && r.node < static_cast<int>(done.size()) && r.output >= 0 &&
         r.output < static_cast<int>(done[r.node].outputs.size());
}

// A guard of which the opposite is there as well, or null.
const Guard* find_opposites(const std::set<Guard>& guards) {
  for (const Guard& g : guards)
    if (g.when && guards.contains({g.condition, false})) return &g;
  return nullptr;
}

void check_condition(const TensorType& t) {
  if (t.shape.rank > 0)
    throw GraphError("a condition expects one number for each sample, got " + t.str());
}

// By node: whether an output of the graph depends on it; of a graph without outputs, all are.
std::vector<char> find_needed(const Graph& graph) {
  std::vector<char> is_needed(graph.nodes.size(), graph.outputs.empty());
  const auto need = [&](const Ref& r) {
    if (r.node >= 0 && static_cast<size_t>(r.node) < is_needed.size()) is_needed[r.node] = 1;
  };
  for (const Output& o : graph.outputs) need(o);
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    if (!is_needed[i]) continue;
    for (const auto& in : graph.nodes[i].inputs)
      if (in) need(*in);
    for (const ArgumentLink& link : graph.nodes[i].links) need(link.from);
    for (const Guard& g : graph.nodes[i].guards) need(g.condition);
  }
  return is_needed;
}

// `is_needed`: whether an output of the graph depends on it. The sides of a merge that nobody needs
// may differ, as those of a name that is not used behind an `if`.
void check_node(const std::vector<CheckedNode>& done, const Node& n, bool is_needed,
                CheckedNode& c) {
  c.type = &operator_named(n.op);
  if (n.version > c.type->version)
    throw GraphError("the graph was saved with version " + std::to_string(n.version) +
                     " of this operator, this is version " + std::to_string(c.type->version));
  check_inputs(*c.type, n);
  check_links(*c.type, n);
  check_edges(*c.type, n, [&](const Ref& r) { return has_output(done, r); });
  c.op = c.type->make(constants_of(*c.type, n));
  c.key = hash64(n.key);
  c.has_own_seed = n.key.starts_with(seed_key(*c.type));
  check_device(*c.type, n.device);
  c.has_cpu_form = n.device != DeviceKind::kMixed;

  int64_t frames = -1;
  c.sequences.resize(n.inputs.size());
  c.frame_values.resize(n.inputs.size());
  for (size_t i = 0; i < n.inputs.size(); ++i) {
    if (!n.inputs[i]) continue;
    const Ref from = *n.inputs[i];
    const Port& port = c.type->input(i);
    if (n.device == DeviceKind::kGpu) c.has_cpu_form &= done[from.node].has_cpu_form;
    TensorType t = done[from.node].outputs[from.output];
    if (i == 0 && t.layout.empty()) t.layout = default_layout_of_frames(port, t.shape.rank);
    if (is_sequence(port, i, t)) {
      if (!c.type->infers()) throw GraphError("takes no sequences: its frames may differ in shape");
      c.unfold = true, c.sequences[i] = true;
      frames = std::max(frames, t.shape[0]);
      t = frame_type(t);
    }
    c.frame_values[i] = c.unfold && port.is_value && has_frames(t);
    check_port(*c.type, i, done[from.node].outputs[from.output], t);
    c.inputs.push_back(t);
  }
  for (const Guard& g : n.guards) {
    if (!has_output(done, g.condition))
      throw GraphError("a condition expects an output of a node before it");
    check_condition(done[g.condition.node].outputs[g.condition.output]);
  }
  if (c.type->is_merge) check_condition(c.inputs[2]);
  std::vector<const char*> names;
  for (const ArgumentInfo& a : c.type->arguments) names.push_back(a.name.c_str());
  std::unique_ptr<bool[]> computed(new bool[names.size()]());
  for (const ArgumentLink& link : n.links) {
    c.link_arguments.push_back(c.type->argument(link.argument));
    computed[c.link_arguments.back()] = true;
    const TensorType& t = done[link.from.node].outputs[link.from.output];
    if (!c.type->inputs.empty() && c.type->inputs[0].unfolds && has_frames(t) &&
        c.type->arguments[c.link_arguments.back()].per_frame) {
      if (!c.unfold && !c.type->inputs[0].makes_frames)
        throw GraphError("argument '" + link.argument +
                         "' has a value for each frame, expected an input whose first axis is "
                         "frames (F), got " +
                         c.inputs[0].str());
      c.unfold = true;
      frames = std::max(frames, t.shape[0]);
    }
  }
  Checker checker{c.inputs, {computed.get(), names.size()}, names, {}};
  if (c.type->is_merge && !is_needed) checker.out(c.inputs[0]);
  else c.op->check(checker);
  c.op->prepare();
  c.sees_batch = c.type->sees_batch(*c.op, c.inputs);
  if (c.sees_batch) {
    if (c.unfold) throw GraphError("takes no sequences: it sees whole batches");
    c.has_cpu_form &= n.device == DeviceKind::kCpu;
  }
  if (c.type->lowers_some && c.type->lowers_some->applies(*c.op, c.inputs))
    c.type = c.type->lowered.get();
  c.outputs = std::move(checker.outputs);
  c.warning = std::move(checker.warning);
  if (c.outputs.size() != outputs_of(*c.type, n).size())
    throw Error(n.op + ": check() gave a wrong number of outputs");
  if (c.unfold)
    for (size_t k = 0; k < c.outputs.size(); ++k)
      if (!c.is_inferred(static_cast<int>(k))) c.outputs[k] = sequence_type(c.outputs[k], frames);
  // A layout has a letter for each axis, and so tells the rank.
  for (TensorType& t : c.outputs) {
    if (t.layout.empty()) continue;
    if (t.shape.rank < 0) t.shape = Shape::filled(t.layout.rank(), -1);
    if (t.shape.rank != t.layout.rank())
      throw Error(n.op + ": check() gave a layout of another rank, " + t.str());
  }
  for (const TensorType& t : c.outputs)
    if (!t.shape.is_possible())
      throw GraphError("the output would be " + t.str() + ", more than 2^40 elements");
}

}  // namespace

constexpr const char* kDeviceNames[] = {"cpu", "gpu", "mixed"};

const char* name_of(DeviceKind d) { return kDeviceNames[static_cast<int>(d)]; }

DeviceKind device_named(const std::string& name) {
  for (int i = 0; i < 3; ++i)
    if (name == kDeviceNames[i]) return static_cast<DeviceKind>(i);
  throw GraphError("device expects 'cpu', 'gpu' or 'mixed', got '" + name + "'");
}

std::string node_in_words(const Node& node) {
  std::string s = node.op + " '" + node.name + "'";
  return node.where.empty() ? s : s + " (" + node.where + ")";
}

std::string guards_in_words(const Graph& graph, const Node& node) {
  std::string s;
  for (const Guard& g : node.guards)
    s += (s.empty() ? "'" : " and '") + graph.nodes[g.condition.node].name +
         (g.when ? "' is true" : "' is false");
  return s;
}

std::vector<std::string> Graph::output_names(int node) const {
  const Node& n = nodes[node];
  return outputs_of(operator_named(n.op), n);
}

void Graph::complete_name_and_key(Node& n) const {
  const auto count = [](const auto& counts, const std::string& what) {
    const auto same = counts.find(what);
    return same == counts.end() ? 0 : same->second;
  };
  const bool named = !n.name.empty();
  if (!named) {
    int free = count(counts_, n.op);
    do n.name = base_name(n.op) + "_" + std::to_string(free++);
    while (names_.contains(n.name));
  } else if (names_.contains(n.name)) {
    throw GraphError("two operators are named '" + n.name + "'");
  }
  if (!n.key.empty()) return;
  n.key = named ? "name:" + n.name
                : scoped(n) + "#" + std::to_string(count(counts_in_scope_, scoped(n)));
}

// Adds the guards of all that the node reads, in order. A merge reads each side where the predicate
// says so, so that is no guard of its own. What begins with data goes on for all samples. A branch
// within a branch may be one that no sample comes to, such as the other side of the same condition;
// what is made in it may not be mixed up with what is made elsewhere, but it may be there.
void Graph::complete_guards(const OperatorType& type, Node& n) const {
  std::set<Guard> all;
  bool is_of_nobody = false;
  const auto take = [&](const std::vector<Guard>& guards, const std::optional<Guard>& but = {}) {
    std::set<Guard> own;
    for (const Guard& g : guards) {
      if (g == but) continue;
      own.insert(g);
      const std::vector<Guard>& of_condition = nodes[g.condition.node].guards;
      own.insert(of_condition.begin(), of_condition.end());
    }
    is_of_nobody |= find_opposites(own) != nullptr;
    all.merge(own);
  };
  const auto inherit = [&](const Ref& from, const std::optional<Guard>& but = {}) {
    take(nodes[from.node].guards, but);
  };
  for (const Guard& g : n.guards)
    if (!has(g.condition)) throw GraphError("a condition expects an output of a node before it");
  take(n.guards);
  for (size_t i = 0; i < n.inputs.size(); ++i) {
    if (!n.inputs[i]) continue;
    if (type.is_merge && i < 2) inherit(*n.inputs[i], Guard{*n.inputs[2], i == 0});
    else inherit(*n.inputs[i]);
  }
  for (const ArgumentLink& link : n.links) inherit(link.from);
  n.guards.assign(all.begin(), all.end());
  if (const Guard* g = find_opposites(all); g && !is_of_nobody)
    throw GraphError("reads what is made on both sides of the condition '" +
                     nodes[g->condition.node].name + "'; merge these first");
  if (type.reads || type.is_input) n.guards.clear();
}

int Graph::add(Node n) {
  try {
    const OperatorType& type = operator_named(n.op);
    check_texts(n);
    take_seed(type, n);
    complete_name_and_key(n);
    complete_arguments(type, n);
    check_links(type, n);
    if (!type.repeats())
      while (!n.inputs.empty() && !n.inputs.back()) n.inputs.pop_back();  // optional ones
    check_inputs(type, n);
    check_edges(type, n, [&](const Ref& r) { return has(r); });
    complete_guards(type, n);
    check_outputs(type, n);
    n.version = type.version;
  } catch (const GraphError& e) {
    throw GraphError(
        (n.name.empty() ? n.op + (n.where.empty() ? "" : " (" + n.where + ")") : node_in_words(n)) +
        ": " + e.what());
  }
  names_.insert(n.name);
  ++counts_[n.op];
  ++counts_in_scope_[scoped(n)];
  nodes.push_back(std::move(n));
  return static_cast<int>(nodes.size()) - 1;
}

std::vector<CheckedNode> check(const Graph& graph) {
  const std::vector<char> is_needed = find_needed(graph);
  std::vector<CheckedNode> done;
  for (const Node& n : graph.nodes) {
    CheckedNode c;
    try {
      check_node(done, n, is_needed[done.size()], c);
    } catch (const GraphError& e) {
      throw GraphError(node_in_words(n) + ": " + e.what());
    }
    done.push_back(std::move(c));
  }
  for (size_t k = 0; k < graph.outputs.size(); ++k) {
    const Output& o = graph.outputs[k];
    const std::string name = "output " + std::to_string(k) + " of the pipeline";
    if (!has_output(done, o))
      throw GraphError(name + " is output " + std::to_string(o.output) + " of node " +
                       std::to_string(o.node) + ", which is not there");
    if (const Node& n = graph.nodes[o.node]; !n.guards.empty())
      throw GraphError(name + ", " + node_in_words(n) + ", is made only where " +
                       guards_in_words(graph, n) + "; merge it with what is made elsewhere");
  }
  return done;
}

}  // namespace stoker
