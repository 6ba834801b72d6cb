// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/graph.h"

#include <set>

#include "graph/node_rules.h"
#include "op/type_of.h"

namespace stoker {

namespace {

std::string base_name(std::string op) {
  for (char& c : op)
    if (c == '.') c = '_';
  return op;
}

std::string scoped(const Node& n) { return n.scope.empty() ? n.op : n.scope + "/" + n.op; }

// Saved graphs and states hold these texts, as JSON.
void check_texts(const Node& n) {
  for (const std::string& text : {n.name, n.key, n.where})
    if (!is_utf8(text))
      throw GraphError("its name, key and place expect UTF-8, got '" + text + "'");
}

bool is_ignored(const OperatorType& type, const std::string& name) {
  return std::find(type.ignored.begin(), type.ignored.end(), name) != type.ignored.end();
}

// For an operator without an argument `seed`, `seed=` names its chance: equal seeds, equal draws.
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

// For an operator whose outputs follow from arguments: refuses none, and more than there may be.
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

// A guard whose opposite is there as well, or null.
const Guard* find_opposites(const std::set<Guard>& guards) {
  for (const Guard& g : guards)
    if (g.when && guards.contains({g.condition, false})) return &g;
  return nullptr;
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
// says so, so that is no guard of its own. What begins with data goes on for all samples. No sample
// may come to a branch within a branch, such as the other side of the same condition: that branch
// is allowed, but what is made in it may not be mixed up with what is made elsewhere.
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
    throw_like<GraphError>(e, (n.name.empty() ? n.op + (n.where.empty() ? "" : " (" + n.where + ")")
                                              : node_in_words(n)) +
                                  ": " + e.what());
  }
  names_.insert(n.name);
  ++counts_[n.op];
  ++counts_in_scope_[scoped(n)];
  nodes.push_back(std::move(n));
  return static_cast<int>(nodes.size()) - 1;
}

}  // namespace stoker
