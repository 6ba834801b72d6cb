// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "shrink.h"

#include <set>

#include "draw/arrays.h"
#include "op/output_names.h"

namespace stoker::torture {

namespace {

// Calls change(ref) for everything that a trial's nodes and outputs read.
template <class Change>
void for_each_ref(Trial& t, const Change& change) {
  for (Node& n : t.nodes) {
    for (auto& in : n.inputs)
      if (in) change(*in);
    for (ArgumentLink& l : n.links) change(l.from);
    for (Guard& g : n.guards) change(g.condition);
  }
  for (Output& o : t.outputs) change(o);
}

// Takes out nodes that no output needs, and feeds of missing nodes.
void prune(Trial& t) {
  std::set<int> used;
  for (const Output& o : t.outputs) used.insert(o.node);
  for (int i = static_cast<int>(t.nodes.size()) - 1; i >= 0; --i) {
    if (!used.contains(i)) continue;
    for (const auto& in : t.nodes[static_cast<size_t>(i)].inputs)
      if (in) used.insert(in->node);
    for (const ArgumentLink& l : t.nodes[static_cast<size_t>(i)].links) used.insert(l.from.node);
    for (const Guard& g : t.nodes[static_cast<size_t>(i)].guards) used.insert(g.condition.node);
  }
  std::vector<int> place(t.nodes.size(), -1);
  std::vector<Node> nodes;
  for (int i : used) {
    place[static_cast<size_t>(i)] = static_cast<int>(nodes.size());
    nodes.push_back(t.nodes[static_cast<size_t>(i)]);
  }
  t.nodes = std::move(nodes);
  for_each_ref(t, [&](Ref& r) { r.node = place[static_cast<size_t>(r.node)]; });
  std::erase_if(t.feeds, [&](const Fed& f) { return place[static_cast<size_t>(f.node)] < 0; });
  for (Fed& f : t.feeds) f.node = place[static_cast<size_t>(f.node)];
}

class Simpler {
 public:
  explicit Simpler(const Trial& t) : t_(t) {}

  std::vector<Trial> all() {
    ways();
    outputs();
    nodes();
    inputs();
    arguments();
    settings();
    files();
    feeds();
    return std::move(all_);
  }

 private:
  template <class Change>
  void try_with(const Change& change) {
    Trial t = t_;
    change(t);
    all_.push_back(std::move(t));
  }

  void ways() {
    if (t_.ways.size() > 1)
      for (const Way& w : t_.ways) try_with([&](Trial& t) { t.ways = {w}; });
    if (!t_.ways.empty() && t_.common.repeats == 0) try_with([](Trial& t) { t.ways.clear(); });
  }

  void outputs() {
    for (size_t i = 0; t_.outputs.size() > 1 && i < t_.outputs.size(); ++i) {
      try_with([&](Trial& t) {
        t.outputs = {t_.outputs[i]};
        prune(t);
      });
    }
    for (size_t i = 0; t_.outputs.size() > 2 && i < t_.outputs.size(); ++i)
      try_with([&](Trial& t) {
        t.outputs.erase(t.outputs.begin() + static_cast<std::ptrdiff_t>(i));
        prune(t);
      });
  }

  // Leaves a node out: its readers read its input, or what a source gives in its place.
  void nodes() {
    for (int i = static_cast<int>(t_.nodes.size()) - 1; i >= 0; --i) {
      const Node& n = t_.nodes[static_cast<size_t>(i)];
      for (const auto& in : n.inputs)
        if (in) try_with([&](Trial& t) { replace(t, i, *in); });
      if (!n.inputs.empty() || !n.links.empty()) try_with([&](Trial& t) { cut(t, i); });
      if (outputs_of(n) > 0 && is_read(i)) try_with([&](Trial& t) { end_at(t, i); });
    }
  }

  static size_t outputs_of(const Node& n) {
    return output_names(operator_named(n.op), n.arguments,
                        [&](size_t i) { return i < n.inputs.size() && n.inputs[i].has_value(); })
        .size();
  }
  bool is_read(int node) const {
    return std::any_of(t_.nodes.begin(), t_.nodes.end(), [&](const Node& n) {
      return std::any_of(n.inputs.begin(), n.inputs.end(),
                         [&](const auto& in) { return in && in->node == node; }) ||
             std::any_of(n.links.begin(), n.links.end(),
                         [&](const ArgumentLink& l) { return l.from.node == node; });
    });
  }

  static void replace(Trial& t, int node, const Ref& by) {
    for_each_ref(t, [&](Ref& r) {
      if (r.node == node) r = by;
    });
    prune(t);
  }

  void cut(Trial& t, int i) const {
    TensorType type;
    try {
      type = check(graph_of(t_, {}, "")).types.at(static_cast<size_t>(i)).at(0).at(0);
    } catch (const GraphError&) {
      return;
    }
    Fed f;
    f.node = i;
    f.dtype = type.dtype;
    f.layout = type.layout;
    for (int a = 0; a < std::max(type.shape.rank, 0); ++a)
      f.shape.push_back(type.shape[a] >= 0 ? std::min<int64_t>(type.shape[a], 8) : 3);
    Node& n = t.nodes[static_cast<size_t>(i)];
    n = {};
    for (const OperatorType& input : all_operators())
      if (input.kind() == OperatorKind::kInput) n.op = input.name;
    n.arguments = {{"dtype", to_value(f.dtype)}, {"ndim", static_cast<int64_t>(f.shape.size())}};
    if (!f.layout.empty()) n.arguments["layout"] = to_value(f.layout);
    for_each_ref(t, [&](Ref& r) {
      if (r.node == i) r.output = 0;
    });
    t.feeds.push_back(f);
    prune(t);
  }

  static void end_at(Trial& t, int node) {
    t.outputs.clear();
    for (size_t k = 0; k < outputs_of(t.nodes[static_cast<size_t>(node)]); ++k)
      t.outputs.emplace_back(node, static_cast<int>(k));
    prune(t);
  }

  void inputs() {
    for (size_t i = 0; i < t_.nodes.size(); ++i) {
      const auto& inputs = t_.nodes[i].inputs;
      if (!inputs.empty() && (inputs.size() > 1 || t_.nodes[i].device == DeviceKind::kCpu))
        try_with([&](Trial& t) {
          t.nodes[i].inputs.pop_back();
          prune(t);
        });
      if (t_.nodes[i].device != DeviceKind::kCpu)
        try_with([&](Trial& t) { t.nodes[i].device = DeviceKind::kCpu; });
    }
  }

  void arguments() {
    for (size_t i = 0; i < t_.nodes.size(); ++i) {
      const Node& n = t_.nodes[i];
      for (size_t k = 0; k < n.links.size(); ++k)
        try_with([&](Trial& t) {
          t.nodes[i].links.erase(t.nodes[i].links.begin() + static_cast<std::ptrdiff_t>(k));
          prune(t);
        });
      if (!n.guards.empty())
        try_with([&](Trial& t) {
          t.nodes[i].guards.clear();
          prune(t);
        });
      for (const auto& [name, value] : n.arguments) {
        try_with([&](Trial& t) { leave_argument(t, i, name); });
        shorter(i, name, value);
      }
    }
  }

  // Readers of an output that is gone with the argument read the first one.
  static void leave_argument(Trial& t, size_t node, const std::string& name) {
    t.nodes[node].arguments.erase(name);
    const auto count = static_cast<int>(outputs_of(t.nodes[node]));
    for_each_ref(t, [&](Ref& r) {
      if (r.node == static_cast<int>(node) && r.output >= count) r.output = 0;
    });
  }

  void shorter(size_t node, const std::string& name, const Value& value) {
    std::visit(
        [&]<class T>(const T& list) {
          if constexpr (kIsVector<T>) {
            for (size_t i = 0; list.size() > 1 && i < list.size(); ++i)
              try_with([&](Trial& t) { t.nodes[node].arguments[name] = T{list[i]}; });
          }
        },
        value);
  }

  // Each member that is not as usual becomes so.
  template <class S, class Place>
  void usual(const S& s, const Place& place) {
    std::vector<Value> usual_values;
    const S defaults;
    S::each(defaults,
            [&](const char*, const auto& member) { usual_values.push_back(to_value(member)); });
    size_t k = 0;
    S::each(s, [&](const char*, const auto& member) {
      const Value& wanted = usual_values[k++];
      if (to_string(to_value(member)) == to_string(wanted)) return;
      try_with([&](Trial& t) {
        size_t at = 0;
        S::each(place(t), [&](const char*, auto& m) {
          if (++at == k) from_value(wanted, m);
        });
      });
    });
  }

  void settings() {
    for (int steps : {1, t_.common.steps - 1})
      if (steps >= 1 && steps < t_.common.steps)
        try_with([&](Trial& t) { t.common.steps = steps; });
    for (int64_t batch : {t_.common.batch / 2, t_.common.batch - 1})
      if (batch >= 1) try_with([&](Trial& t) { t.common.batch = batch; });
    usual(t_.common, [](Trial& t) -> Common& { return t.common; });
    for (size_t i = 0; i < t_.ways.size(); ++i) {
      usual(t_.ways[i], [i](Trial& t) -> Way& { return t.ways[i]; });
      if (t_.ways[i].threads > 2) try_with([&](Trial& t) { t.ways[i].threads = 2; });
      if (t_.ways[i].depth > 2) try_with([&](Trial& t) { t.ways[i].depth = 2; });
    }
  }

  void files() {
    const bool is_read = t_.has(OperatorKind::kRead) ||
                         std::any_of(t_.feeds.begin(), t_.feeds.end(),
                                     [](const Fed& f) { return f.values == "files"; });
    if (!is_read && !t_.files.empty()) return try_with([](Trial& t) { t.files.clear(); });
    for (size_t i = 0; i < t_.files.size(); ++i) {
      if (i + 1 == t_.files.size() && i > 0) try_with([](Trial& t) { t.files.pop_back(); });
      try_with([&](Trial& t) { leave_file(t, i); });
      usual(t_.files[i], [i](Trial& t) -> MadeFile& { return t.files[i]; });
    }
  }

  // Readers that read several files read this one as often.
  static void leave_file(Trial& t, size_t i) {
    t.files = {MadeFile(t.files[i])};
    for (Node& n : t.nodes)
      if (const auto it = n.arguments.find("files"); it != n.arguments.end())
        if (auto* names = std::get_if<std::vector<std::string>>(&it->second))
          names->assign(names->size(), std::string("0"));
  }

  void feeds() {
    for (size_t i = 0; i < t_.feeds.size(); ++i) {
      const Fed& f = t_.feeds[i];
      for (size_t a = 0; a < f.shape.size(); ++a)
        for (int64_t extent : {int64_t{1}, f.shape[a] / 2, f.shape[a] - 1})
          if (extent >= 1 && extent < f.shape[a])
            try_with([&](Trial& t) { t.feeds[i].shape[a] = extent; });
      const auto place = [i](Trial& t) -> Fed& { return t.feeds[i]; };
      Fed same = f;  // what belongs to the node stays
      const Fed none;
      same.node = none.node, same.dtype = none.dtype, same.layout = none.layout;
      same.shape = none.shape;
      usual(same, place);
    }
  }

  const Trial& t_;
  std::vector<Trial> all_;
};

}  // namespace

std::vector<Trial> simpler(const Trial& trial) { return Simpler(trial).all(); }

Trial shrunk(Trial trial, const std::function<bool(const Trial&)>& is_same) {
  std::set<std::string> asked = {to_text(trial)};
  // After a step that succeeded, others of its kind are tried; the end is a round without success.
  for (bool goes_on = true; std::exchange(goes_on, false);)
    for (size_t at = 0;; ++at) {
      std::vector<Trial> all = simpler(trial);
      if (at >= all.size()) break;
      if (!asked.insert(to_text(all[at])).second) continue;
      if (!is_same(all[at])) continue;
      trial = std::move(all[at--]);
      goes_on = true;
    }
  return trial;
}

}  // namespace stoker::torture
