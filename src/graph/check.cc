// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Checks a whole graph, node by node, and takes it apart where types differ: Note [Sides that
// differ] (graph/graph.h).
#include <map>
#include <set>

#include "graph/node_rules.h"
#include "op/meeting.h"

namespace stoker {

namespace {

constexpr size_t kMostVariants = 16;  // of one value
constexpr int kMostTimes = 64;  // that a node of the given graph is added

constexpr const char* kWayOut =
    "fn.cast or fn.reshape behind a conditional gives both of its sides one type";

// By node: whether an output of the graph depends on it. Without outputs, all are needed.
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

// What a value of the given graph has become: one value, or a fork with what there is on its sides.
struct Tree {
  Ref value;
  std::shared_ptr<const Fork> fork;
  std::shared_ptr<const Tree> if_true = nullptr, if_false = nullptr;

  const Tree& side(bool when) const { return when ? *if_true : *if_false; }
};

size_t variants_of(const Tree& t) {
  return t.fork ? variants_of(*t.if_true) + variants_of(*t.if_false) : 1;
}

Ref first_of(const Tree& t) { return t.fork ? first_of(*t.if_true) : t.value; }

Tree forked(const std::shared_ptr<const Fork>& fork, Tree if_true, Tree if_false) {
  return {{},
          fork,
          std::make_shared<const Tree>(std::move(if_true)),
          std::make_shared<const Tree>(std::move(if_false))};
}

// What is left of it where a guard holds.
Tree restricted(const Tree& t, const Guard& guard) {
  if (!t.fork) return t;
  if (t.fork->condition == guard.condition) return restricted(t.side(guard.when), guard);
  return forked(t.fork, restricted(*t.if_true, guard), restricted(*t.if_false, guard));
}

class GraphCheck {
 public:
  explicit GraphCheck(const Graph& given) : given_(given), is_needed_(find_needed(given)) {}

  CheckedGraph run() {
    for (size_t i = 0; i < given_.nodes.size(); ++i) {
      const Node& n = given_.nodes[i];
      at_ = i;
      times_ = 0;
      try {
        values_.push_back(take(n));
      } catch (const GraphError& e) {
        throw_like<GraphError>(e, node_in_words(n) + ": " + e.what());
      }
    }
    for (size_t k = 0; k < given_.outputs.size(); ++k) take_output(k);
    for (const std::vector<Tree>& outputs : values_) {
      out_.types.emplace_back();
      for (const Tree& t : outputs) list_types(t, out_.types.back().emplace_back());
    }
    return std::move(out_);
  }

 private:
  // What a node reads: its inputs, which may be missing, and the values of its links.
  struct Reads {
    std::vector<std::optional<Tree>> inputs;
    std::vector<Tree> links;

    template <class F>
    void for_each(F f) {
      for (auto& in : inputs)
        if (in) f(*in);
      for (Tree& t : links) f(t);
    }
  };

  bool has(const Ref& r) const {
    return r.node >= 0 && static_cast<size_t>(r.node) < values_.size() && r.output >= 0 &&
           static_cast<size_t>(r.output) < values_[static_cast<size_t>(r.node)].size();
  }
  const Tree& tree(const Ref& given) const {
    return values_[static_cast<size_t>(given.node)][static_cast<size_t>(given.output)];
  }
  const TensorType& type_of(const Ref& r) const { return out_.nodes[r.node].outputs[r.output]; }

  void list_types(const Tree& t, std::vector<TensorType>& list) const {
    if (!t.fork) return list.push_back(type_of(t.value));
    list_types(*t.if_true, list);
    list_types(*t.if_false, list);
  }

  std::vector<Tree> take(const Node& given) {
    const OperatorType& type = operator_named(given.op);
    check_call(type, given);
    check_edges(type, given, [&](const Ref& r) { return has(r); });
    Node n = given;
    n.given = static_cast<int>(at_);
    n.guards.clear();
    for (const Guard& g : given.guards) {
      if (!has(g.condition)) throw GraphError("a condition expects an output of a node before it");
      n.guards.push_back({single(g.condition), g.when});
    }
    Reads reads;
    for (const auto& in : given.inputs)
      reads.inputs.push_back(in ? std::optional(tree(*in)) : std::nullopt);
    for (const ArgumentLink& link : given.links) reads.links.push_back(tree(link.from));
    for (const Guard& g : n.guards) reads.for_each([&](Tree& t) { t = restricted(t, g); });
    if (!type.is_merge) return make(n, reads);
    reads.inputs[2] = Tree{single(*given.inputs[2]), nullptr};
    return {merged(n, reads)};
  }

  // Adds the node, once for each combination of what it reads, and gives its outputs.
  std::vector<Tree> make(const Node& n, const Reads& reads) {
    std::shared_ptr<const Fork> fork;
    Reads(reads).for_each([&](const Tree& t) {
      if (!fork) fork = t.fork;
    });
    if (!fork) return add(n, reads);
    if (operator_named(n.op).reads)
      throw GraphError("reads an argument whose type is not the same for all samples");
    std::vector<Tree> sides[2];
    for (const bool when : {true, false}) {
      Reads here = reads;
      const Side side{fork, when};
      here.for_each([&](Tree& t) { t = restricted(t, side.guard()); });
      sides_.push_back(side);
      sides[when] = make(n, here);
      sides_.pop_back();
    }
    std::vector<Tree> outputs;
    for (size_t k = 0; k < sides[true].size(); ++k)
      outputs.push_back(joined(n, fork, sides[true][k], sides[false][k]));
    return outputs;
  }

  // Requires: nothing that the node reads is a fork.
  std::vector<Tree> add(Node n, const Reads& reads) {
    for (size_t i = 0; i < n.inputs.size(); ++i)
      if (n.inputs[i]) n.inputs[i] = reads.inputs[i]->value;
    for (size_t i = 0; i < n.links.size(); ++i) n.links[i].from = reads.links[i].value;
    std::vector<Tree> outputs;
    const int node = add(std::move(n));
    for (size_t k = 0; k < out_.nodes.back().outputs.size(); ++k)
      outputs.push_back({{node, static_cast<int>(k)}, nullptr});
    return outputs;
  }

  // Adds a node of the new graph, for the sides that are looked at now.
  int add(Node n) {
    if (++times_ > kMostTimes)
      throw GraphError("what it reads has more than " + std::to_string(kMostTimes) +
                       " combinations of types, by the conditionals before it; " + kWayOut);
    n.sides = sides_;
    if (!sides_.empty()) {
      std::set<Guard> all(n.guards.begin(), n.guards.end());
      for (const Side& s : sides_) {
        const std::vector<Guard>& of_condition = out_.graph.nodes[s.fork->condition.node].guards;
        all.insert(of_condition.begin(), of_condition.end());
        all.insert(s.guard());
      }
      n.guards.assign(all.begin(), all.end());
    }
    try {
      out_.nodes.push_back(check_node(out_.nodes, n, is_needed_[at_]));
    } catch (const GraphError& e) {
      if (sides_.empty()) throw;
      Node here;
      for (const Side& s : sides_) here.guards.push_back(s.guard());
      throw_like<GraphError>(e, e.what() + (", where " + guards_in_words(out_.graph, here)));
    }
    out_.graph.nodes.push_back(std::move(n));
    return static_cast<int>(out_.nodes.size()) - 1;
  }

  // One value of what is made on both sides, if they have one type now. `n`: the node that made it.
  Tree joined(const Node& n, const std::shared_ptr<const Fork>& fork, const Tree& if_true,
              const Tree& if_false) {
    if (!if_true.fork && !if_false.fork &&
        may_meet(type_of(if_true.value), type_of(if_false.value))) {
      Node merge = fork->merge;
      merge.guards = n.guards;
      merge.inputs = {if_true.value, if_false.value, fork->condition};
      merge.device = ends_on_device(if_true.value) || ends_on_device(if_false.value)
                         ? DeviceKind::kGpu
                         : DeviceKind::kCpu;
      return {{add(std::move(merge)), 0}, nullptr};
    }
    Tree t = forked(fork, if_true, if_false);
    if (variants_of(t) > kMostVariants)
      throw GraphError("the conditionals before it give its output more than " +
                       std::to_string(kMostVariants) + " types; " + kWayOut);
    return t;
  }

  bool ends_on_device(const Ref& r) const {
    return out_.graph.nodes[r.node].device != DeviceKind::kCpu &&
           !out_.nodes[r.node].is_inferred(r.output);
  }

  Tree merged(const Node& n, Reads& reads) {
    const Ref condition = reads.inputs[2]->value;
    for (const bool when : {true, false}) {
      Tree& side = *reads.inputs[when ? 0 : 1];
      side = restricted(side, {condition, when});
    }
    const Tree &if_true = *reads.inputs[0], &if_false = *reads.inputs[1];
    const std::optional<bool> truth = out_.nodes[condition.node].truth;
    const bool is_one = !if_true.fork && !if_false.fork;
    const bool is_needed = is_needed_[at_];
    if (is_one &&
        (truth || !is_needed || may_meet(type_of(if_true.value), type_of(if_false.value))))
      return add(n, reads)[0];
    check_merge(n, reads);
    if (truth || !is_needed) return on_device_of(n, truth.value_or(true) ? if_true : if_false);
    auto fork = std::make_shared<Fork>(
        Fork{n, condition, type_of(first_of(if_true)), type_of(first_of(if_false))});
    fork->merge.guards.clear();
    return joined(n, fork, on_side({fork, true}, n, if_true), on_side({fork, false}, n, if_false));
  }

  Tree on_side(const Side& side, const Node& merge, const Tree& t) {
    sides_.push_back(side);
    Tree there = on_device_of(merge, t);
    sides_.pop_back();
    return there;
  }

  // Whether it could be merged at all, with what it takes twice.
  void check_merge(Node n, const Reads& reads) const {
    n.inputs = {first_of(*reads.inputs[0]), first_of(*reads.inputs[0]), reads.inputs[2]->value};
    (void)check_node(out_.nodes, n, true);
  }

  // The value where the merge lies.
  Tree on_device_of(const Node& merge, const Tree& t) {
    if (merge.device != DeviceKind::kGpu) return t;
    if (!t.fork) return ends_on_device(t.value) ? t : copied(merge, t.value, DeviceKind::kGpu);
    return forked(t.fork, on_side({t.fork, true}, merge, *t.if_true),
                  on_side({t.fork, false}, merge, *t.if_false));
  }

  Tree copied(const Node& merge, const Ref& value, DeviceKind device) {
    Node n;
    n.op = "copy";
    n.name = merge.name;
    n.where = merge.where;
    n.guards = merge.guards;
    n.device = device;
    n.inputs = {value};
    return {{add(std::move(n)), 0}, nullptr};
  }

  // A condition as one value: its truth, where its type differs.
  Ref single(const Ref& given) {
    const Tree& t = tree(given);
    if (!t.fork) return t.value;
    if (const auto made = singles_.find(given); made != singles_.end()) return made->second;
    const Node& n = given_.nodes[given.node];
    std::vector<Side> around = std::exchange(sides_, {});
    Node truth = t.fork->merge;
    for (const Guard& g : n.guards) truth.guards.push_back({single(g.condition), g.when});
    const auto constant = [&](int64_t value) {
      Node c;
      c.op = "constant";
      c.name = truth.name;
      c.where = truth.where;
      c.arguments = {{"idata", std::vector<int64_t>{value}},
                     {"shape", std::vector<int64_t>{}},
                     {"dtype", std::string("bool")}};
      return Tree{{add(std::move(c)), 0}, nullptr};
    };
    const Ref one = truth_of(truth, t, constant(1), constant(0)).value;
    sides_ = std::move(around);
    return singles_[given] = one;
  }

  Tree truth_of(const Node& merge, const Tree& t, const Tree& one, const Tree& zero) {
    if (t.fork) {
      Tree sides[2];
      for (const bool when : {true, false}) {
        sides_.push_back({t.fork, when});
        sides[when] = truth_of(merge, t.side(when), one, zero);
        sides_.pop_back();
      }
      return joined(merge, t.fork, sides[true], sides[false]);
    }
    check_condition(type_of(t.value));
    Node n = merge;
    n.device = DeviceKind::kCpu;
    n.inputs = {one.value, zero.value, t.value};
    return {{add(std::move(n)), 0}, nullptr};
  }

  // Checks that it exists and is made for all samples, and lists its variants.
  void take_output(size_t k) {
    const Output& o = given_.outputs[k];
    const std::string name = "output " + std::to_string(k) + " of the pipeline";
    if (!has(o))
      throw GraphError(name + " is output " + std::to_string(o.output) + " of node " +
                       std::to_string(o.node) + ", which is not there");
    if (const Node& n = given_.nodes[o.node]; !n.guards.empty())
      throw GraphError(name + ", " + node_in_words(n) + ", is made only where " +
                       guards_in_words(given_, n) + "; merge it with what is made elsewhere");
    at_ = static_cast<size_t>(o.node);
    out_.variants.emplace_back();
    list_variants(tree(o), o.to_host);
  }

  void list_variants(const Tree& t, bool to_host) {
    if (t.fork) {
      for (const bool when : {true, false}) {
        sides_.push_back({t.fork, when});
        list_variants(t.side(when), to_host);
        sides_.pop_back();
      }
      return;
    }
    const Ref value = sides_.empty() ? t.value : only_there(t.value);
    out_.graph.outputs.push_back(Output(value, to_host));
    out_.variants.back().push_back({value, sides_});
  }

  // The value, which is made only for the sides that are looked at now.
  Ref only_there(const Ref& value) {
    const std::vector<Guard>& guards = out_.graph.nodes[value.node].guards;
    if (std::ranges::all_of(sides_, [&](const Side& s) {
          return std::ranges::find(guards, s.guard()) != guards.end();
        }))
      return value;
    Node merge = sides_.back().fork->merge;
    merge.guards.clear();
    return copied(merge, value, ends_on_device(value) ? DeviceKind::kGpu : DeviceKind::kCpu).value;
  }

  const Graph& given_;
  const std::vector<char> is_needed_;
  size_t at_ = 0;  // the node of the given graph that is looked at
  int times_ = 0;  // that something was added for it
  CheckedGraph out_;
  std::vector<std::vector<Tree>> values_;  // by node that was given, by output
  std::map<Ref, Ref> singles_;  // conditions that were forks
  std::vector<Side> sides_;  // those that are looked at, outermost first
};

}  // namespace

CheckedGraph check(const Graph& graph) { return GraphCheck(graph).run(); }

std::string meeting_in_words(const Graph& graph, const Fork& fork) {
  const char* way = way_to_meet(fork.if_true, fork.if_false);
  return "samples of both sides meet in a batch and expect the same dtype, number of axes and "
         "layout, got " +
         fork.if_true.str() + " where '" + graph.nodes[fork.condition.node].name +
         "' is true and " + fork.if_false.str() + " where it is false; " +
         (way ? std::string(way) + ", and " : "") +
         "a condition that is the same for all samples of a batch keeps them apart";
}

}  // namespace stoker
