// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "graph.h"

#include <set>

#include "../function.h"
#include "arrays.h"
#include "op/case_testing.h"
#include "op/meeting.h"
#include "op/output_names.h"
#include "values.h"

namespace stoker::torture {

namespace {

std::vector<std::string> words_of(std::string_view list) {
  std::vector<std::string> words;
  std::string word;
  for (char c : list)
    if (c == ',') words.push_back(std::exchange(word, ""));
    else if (c != ' ') word += c;
  if (!word.empty()) words.push_back(word);
  return words;
}

bool takes_encoded(const Port& p) {
  return p.is_value && accepts(p, DType::kUint8) && !accepts(p, DType::kFloat32);
}

size_t required_inputs(const OperatorType& type) {
  return static_cast<size_t>(std::count_if(type.inputs.begin(), type.inputs.end(),
                                           [](const Port& p) { return !p.is_optional; }));
}

class GraphDrawer {
 public:
  GraphDrawer(Dice& dice, const std::vector<std::string>& operators, Trial& trial)
      : dice_(dice), trial_(trial) {
    for (const OperatorType& type : all_operators())
      if (is_drawn(type) && (operators.empty() || std::find(operators.begin(), operators.end(),
                                                            type.name) != operators.end()))
        types_.push_back(&type);
    if (dice_.often(0.4)) device_share_ = dice_.of({0.3, 0.7, 1.0});
  }

  void draw() {
    for (int64_t count = dice_.of({1, 2, 2, 3, 3, 4, 5, 7}); count > 0; --count)
      if (!draw_node()) break;
    draw_outputs();
  }

 private:
  // Adds a node with all that it reads. Returns false where the graph is to stay wrong.
  bool draw_node() {
    for (int tries = 0; tries < 8; ++tries) {
      const OperatorType& type = *dice_.of(types_);
      const size_t nodes = trial_.nodes.size(), feeds = trial_.feeds.size();
      if (type.kind() == OperatorKind::kInput) {
        draw_source({});
        return true;
      }
      if (branches_.size() < 3 && dice_.often(0.12) && draw_conditional()) return true;
      Node n = call_of(type);
      if (add(n)) return true;
      if (dice_.often(0.02)) {
        trial_.nodes.push_back(std::move(n));
        return false;
      }
      trial_.nodes.resize(nodes);
      trial_.feeds.resize(feeds);
      checked_.resize(nodes);
    }
    return true;
  }

  // Returns whether the graph is good with this node; without it, it is as before.
  bool add(Node n) {
    n.guards = branches_;
    trial_.nodes.push_back(std::move(n));
    try {
      checked_ = check(graph_of(trial_, {}, "")).types;
      return true;
    } catch (const GraphError&) {
      trial_.nodes.pop_back();
      return false;
    }
  }

  // Adds a conditional with some nodes on its sides, and merges them. Returns as add().
  bool draw_conditional() {
    const size_t nodes = trial_.nodes.size(), feeds = trial_.feeds.size();
    if (const std::optional<Ref> condition = draw_condition()) {
      const size_t before = trial_.nodes.size();
      bool is_good = draw_side({*condition, true}, dice_.of({1, 1, 2, 3}));
      const size_t middle = trial_.nodes.size();
      if (is_good && dice_.often(0.5)) draw_alike(before, {*condition, false});
      if (is_good) is_good = draw_side({*condition, false}, dice_.of({0, 0, 1, 2}));
      if (is_good && merge_sides(*condition, before, middle)) return true;
    }
    trial_.nodes.resize(nodes);
    trial_.feeds.resize(feeds);
    checked_.resize(nodes);
    return false;
  }

  bool draw_side(const Guard& guard, int64_t count) {
    branches_.push_back(guard);
    bool is_good = true;
    while (is_good && count-- > 0) is_good = draw_node();
    branches_.pop_back();
    return is_good;
  }

  // Adds the calls from `begin` on once more, with other arguments.
  void draw_alike(size_t begin, const Guard& guard) {
    const std::vector<Node> calls(trial_.nodes.begin() + static_cast<std::ptrdiff_t>(begin),
                                  trial_.nodes.end());
    branches_.push_back(guard);
    for (Node n : calls) {
      const OperatorType& type = operator_named(n.op);
      if (type.is_input || type.reads || type.is_merge) continue;
      if (dice_.often(0.7)) n.arguments = draw_arguments(dice_, type);
      (void)add(n);
    }
    branches_.pop_back();
  }

  // Merges values of both sides that fit. `middle`: where the nodes of the second side begin.
  bool merge_sides(const Ref& condition, size_t before, size_t middle) {
    const auto values = [&](size_t begin, size_t end) {
      std::vector<Ref> list;
      for (size_t n = begin; n < end; ++n)
        for (size_t k = 0; k < checked_[n].size(); ++k)
          list.push_back({static_cast<int>(n), static_cast<int>(k)});
      return list;
    };
    const size_t end = trial_.nodes.size();
    const std::vector<Ref> if_true = values(before, middle);
    std::vector<Ref> if_false = values(middle, end);
    for (const Ref& r : values(0, before)) if_false.push_back(r);
    if (if_true.empty() || if_false.empty()) return false;
    const bool may_differ = dice_.often(0.3);
    for (int tries = 0; tries < 30; ++tries) {
      Node merge;
      merge.op = "merge";
      const Ref one = dice_.of(if_true), other = dice_.of(if_false);
      if (!may_differ && !may_meet(type_of(one), type_of(other))) continue;
      merge.inputs = {one, other, condition};
      const auto is_on_device = [&](const std::optional<Ref>& r) {
        return trial_.nodes[static_cast<size_t>(r->node)].device != DeviceKind::kCpu;
      };
      merge.device = is_on_device(merge.inputs[0]) || is_on_device(merge.inputs[1])
                         ? DeviceKind::kGpu
                         : DeviceKind::kCpu;
      if (add(merge) && dice_.often(0.6)) break;
    }
    return trial_.nodes.size() > end;
  }

  const TensorType& type_of(const Ref& r) const {
    return checked_[static_cast<size_t>(r.node)][static_cast<size_t>(r.output)][0];
  }

  // One number for each sample that is often 0.
  std::optional<Ref> draw_condition() {
    std::vector<Ref> numbers;
    for (size_t node = 0; node < checked_.size(); ++node)
      for (size_t k = 0; k < checked_[node].size(); ++k)
        if (checked_[node][k][0].shape.rank == 0 && is_made_here(node))
          numbers.push_back({static_cast<int>(node), static_cast<int>(k)});
    if (!numbers.empty() && dice_.often(0.5)) return dice_.of(numbers);
    Node flip;
    flip.op = "random.coin_flip";
    flip.arguments = {{"probability", dice_.of({0.0, 0.3, 0.5, 0.8, 0.97, 1.0})}};
    if (dice_.often(0.3)) flip.arguments["dtype"] = std::string("bool");
    if (dice_.often(device_share_ / 2)) flip.device = DeviceKind::kGpu;
    return add(flip) ? std::optional(last()) : std::nullopt;
  }

  // Whether the node is made wherever the branch is taken that nodes are added to now.
  bool is_made_here(size_t node) const {
    const Graph g = graph_of(trial_, {}, "");
    std::set<Guard> here(branches_.begin(), branches_.end());
    for (const Guard& b : branches_) {
      const std::vector<Guard>& more = g.nodes[static_cast<size_t>(b.condition.node)].guards;
      here.insert(more.begin(), more.end());
    }
    return std::all_of(g.nodes[node].guards.begin(), g.nodes[node].guards.end(),
                       [&](const Guard& guard) { return here.contains(guard); });
  }

  Node call_of(const OperatorType& type) {
    Node n;
    n.op = type.name;
    n.arguments = draw_arguments(dice_, type);
    if (type.kind() == OperatorKind::kRead) give_files(type, n);
    draw_inputs(type, n);
    for (const ArgumentInfo& a : type.arguments)
      if (a.per_sample && dice_.often(0.15)) compute(a, n);
    n.device = draw_device(type);
    return n;
  }

  DeviceKind draw_device(const OperatorType& type) {
    if (!dice_.often(device_share_)) return DeviceKind::kCpu;
    return type.is_mixed()  ? DeviceKind::kMixed
           : type.has_gpu() ? DeviceKind::kGpu
                            : DeviceKind::kCpu;
  }

  void give_files(const OperatorType& type, Node& n) {
    if (type.argument("files") < 0) return;
    std::vector<std::string> names;
    for (int64_t count = dice_.between(1, 9); count > 0; --count)
      names.push_back(std::to_string(dice_.below(static_cast<int64_t>(trial_.files.size()))));
    n.arguments["files"] = names;
  }

  // Some calls take inputs as those of a case, so that what belongs together fits.
  void draw_inputs(const OperatorType& type, Node& n) {
    size_t count = required_inputs(type);
    while (count < type.inputs.size() && dice_.often(0.4)) ++count;
    while (type.repeats() && count < type.most_inputs() && dice_.often(0.6)) ++count;
    const Case* like = type.cases.empty() || dice_.often(0.7) ? nullptr : &dice_.of(type.cases);
    if (like) count = like->inputs.size();
    for (size_t i = 0; i < count; ++i) {
      const Port& port = type.input(i);
      if (port.is_optional && dice_.often(0.05)) n.inputs.emplace_back();
      else if (like && !takes_encoded(port)) n.inputs.emplace_back(draw_like(like->inputs[i]));
      else if (port.repeats && !n.inputs.empty() && dice_.often(0.6))
        n.inputs.push_back(n.inputs.back());  // what is joined has to fit
      else n.inputs.emplace_back(draw_input(port, i == 0));
    }
  }

  Ref draw_input(const Port& port, bool first) {
    std::vector<Ref> fitting, all;
    for (size_t node = 0; node < checked_.size(); ++node)
      for (size_t k = 0; k < checked_[node].size(); ++k) {
        const std::vector<TensorType>& types = checked_[node][k];
        const TensorType& t = types.size() == 1 ? types[0] : dice_.of(types);
        const Ref r{static_cast<int>(node), static_cast<int>(k)};
        all.push_back(r);
        const bool unfolds = first && t.layout.str().starts_with('F') &&
                             accepts(port, Layout(t.layout.str().substr(1)));
        if (accepts(port, t.dtype) && (accepts(port, t.layout) || unfolds)) fitting.push_back(r);
      }
    if (!fitting.empty() && dice_.often(0.65)) return dice_.of(fitting);
    if (!all.empty() && dice_.often(0.03)) return dice_.of(all);
    return takes_encoded(port) ? draw_encoded() : draw_source(port, first);
  }

  Ref draw_encoded() {
    for (const OperatorType& type : all_operators()) {
      if (!type.reads || !is_drawn(type) || !dice_.often(0.6)) continue;
      Node n;
      n.op = type.name;
      n.arguments = draw_arguments(dice_, type);
      give_files(type, n);
      if (add(n)) return last();
    }
    Fed f;
    f.shape = {0};
    f.values = "files";
    return add_fed(f);
  }

  Ref draw_source(const Port& port, bool first = false) {
    const std::vector<std::string> dtypes = words_of(port.dtypes), layouts = words_of(port.layouts);
    const DType dtype = dtypes.empty() ? draw_dtype(dice_) : dtype_named(dice_.of(dtypes));
    std::string layout =
        layouts.empty() ? dice_.of({"", "", "HWC", "HW", "CHW", "FHWC"}) : dice_.of(layouts);
    if (layout == "HWC" && dtype == DType::kUint8 && dice_.often(0.4))
      if (const auto picture = draw_picture()) return *picture;
    if (first && layout.size() < kMaxRank && dice_.often(0.12)) layout.insert(0, "F");
    const Fed f = draw_fed(dice_, dtype, layout);
    if (!dice_.often(0.3)) return add_fed(f);
    const auto constant = add_constant(f);
    return constant ? *constant : add_fed(f);
  }

  std::optional<Ref> draw_picture() {
    std::vector<const OperatorType*> decoders;
    for (const OperatorType& type : all_operators())
      if (!type.inputs.empty() && takes_encoded(type.inputs[0])) decoders.push_back(&type);
    if (decoders.empty()) return std::nullopt;
    const OperatorType& type = *dice_.of(decoders);
    Node n;
    n.op = type.name;
    n.arguments = draw_arguments(dice_, type);
    n.inputs = {draw_encoded()};
    n.device = draw_device(type);
    return add(n) ? std::optional(last()) : std::nullopt;
  }

  // An array of the dtype, layout and shape that a case writes.
  Ref draw_like(const char* literal) {
    const TensorType type = test::Text(literal).tensor().type;
    Fed f = draw_fed(dice_, type.dtype, type.layout);
    f.shape.assign(type.shape.extent, type.shape.extent + type.shape.rank);
    f.varies = false;
    f.high = dice_.of({1.0, 2.0, 4.0, 200.0});
    return add_fed(f);
  }

  Ref add_fed(Fed f) {
    Node n;
    for (const OperatorType& type : all_operators())
      if (type.kind() == OperatorKind::kInput) n.op = type.name;
    n.arguments = {{"dtype", std::string(name_of(f.dtype))},
                   {"ndim", static_cast<int64_t>(f.shape.size())}};
    if (!f.layout.empty()) n.arguments["layout"] = std::string(f.layout.str());
    f.node = static_cast<int>(trial_.nodes.size());
    if (!add(n)) throw std::logic_error("an input of " + TensorType{f.dtype, f.layout, {}}.str());
    trial_.feeds.push_back(f);
    return last();
  }

  // The same numbers for every sample, of a shape that is known before.
  std::optional<Ref> add_constant(const Fed& f) {
    Node n;
    n.op = "constant";
    n.arguments = {{"idata", std::vector<int64_t>{dice_.between(-3, 300)}},
                   {"shape", to_value(f.shape)},
                   {"dtype", std::string(name_of(f.dtype))}};
    if (!f.layout.empty()) n.arguments["layout"] = std::string(f.layout.str());
    n.device = dice_.often(device_share_) ? DeviceKind::kGpu : DeviceKind::kCpu;
    return add(n) ? std::optional(last()) : std::nullopt;
  }

  Ref last() const { return {static_cast<int>(trial_.nodes.size()) - 1, 0}; }

  // Lets another node compute an argument.
  void compute(const ArgumentInfo& a, Node& n) {
    n.arguments.erase(a.name);
    if (!trial_.nodes.empty() && dice_.often(0.2)) {
      const int node = static_cast<int>(dice_.below(static_cast<int64_t>(checked_.size())));
      const auto outputs = static_cast<int64_t>(checked_[static_cast<size_t>(node)].size());
      if (outputs > 0)
        return n.links.push_back({a.name, {node, static_cast<int>(dice_.below(outputs))}});
    }
    const auto drawn = dice_.often(0.3) ? add_draws() : std::nullopt;
    n.links.push_back({a.name, drawn ? *drawn : add_fed(numbers_for(a))});
  }

  std::optional<Ref> add_draws() {
    for (const OperatorType& type : all_operators()) {
      if (!type.is_random || required_inputs(type) > 0 || !dice_.often(0.6)) continue;
      Node n;
      n.op = type.name;
      n.arguments = draw_arguments(dice_, type);
      n.device = draw_device(type);
      if (add(n)) return last();
    }
    return std::nullopt;
  }

  Fed numbers_for(const ArgumentInfo& a) {
    const Moderate m = moderate(a);
    Fed f = draw_fed(dice_, m.whole ? DType::kInt32 : DType::kFloat32, "");
    if (dice_.often(0.1)) f.dtype = draw_dtype(dice_);
    f.shape.clear();
    if (a.per_frame && dice_.often(0.3)) {
      f.layout = "F";
      f.shape.push_back(dice_.between(0, 4));
    }
    if (a.type.starts_with("Sequence[")) {
      f.layout = f.layout.empty() ? "" : "F*";
      f.shape.push_back(dice_.of({1, 2, 2, 2, 3, 3, 0}));
    }
    f.varies = dice_.often(0.1);
    if (dice_.often(0.9)) f.values = "range";
    f.low = m.low;
    f.high = m.high;
    f.whole = m.whole;
    return f;
  }

  void draw_outputs() {
    std::vector<Output> all;
    for (size_t node = 0; node < trial_.nodes.size(); ++node) {
      const Node& n = trial_.nodes[node];
      if (is_guarded(static_cast<int>(node))) continue;
      const auto has_input = [&](size_t i) { return i < n.inputs.size() && n.inputs[i]; };
      const size_t count = output_names(operator_named(n.op), n.arguments, has_input).size();
      for (size_t k = 0; k < count; ++k) {
        all.emplace_back(static_cast<int>(node), static_cast<int>(k));
        all.back().to_host = dice_.often(0.4);
        if (dice_.often(is_read(all.back()) ? 0.12 : 0.9)) trial_.outputs.push_back(all.back());
      }
    }
    const bool is_good = checked_.size() == trial_.nodes.size();
    if (all.empty() && is_good) all.emplace_back(add_fed(draw_fed(dice_, draw_dtype(dice_), "")));
    if (!all.empty() && (trial_.outputs.empty() || dice_.often(0.05)))
      trial_.outputs.push_back(dice_.of(all));
  }

  // Whether the node is in a branch, so that its outputs cannot be those of the graph.
  bool is_guarded(int node) const {
    try {
      return !graph_of(trial_, {}, "").nodes[static_cast<size_t>(node)].guards.empty();
    } catch (const GraphError&) {
      return false;  // of a graph that is to stay wrong
    }
  }

  bool is_read(const Ref& r) const {
    return std::any_of(trial_.nodes.begin(), trial_.nodes.end(), [&](const Node& n) {
      return std::any_of(n.inputs.begin(), n.inputs.end(), [&](auto& in) { return in == r; }) ||
             std::any_of(n.links.begin(), n.links.end(), [&](auto& l) { return l.from == r; });
    });
  }

  Dice& dice_;
  Trial& trial_;
  std::vector<const OperatorType*> types_;
  std::vector<std::vector<std::vector<TensorType>>> checked_;  // by node, by output
  std::vector<Guard> branches_;  // of the nodes that are added now
  double device_share_ = 0;
};

}  // namespace

bool is_drawn(const OperatorType& type) {
  // Other readers need files of their own kind.
  if (type.reads) return type.name == "readers.file";
  return !type.is_user_code || has_function(type);
}

void draw_graph(Dice& dice, const std::vector<std::string>& operators, Trial& trial) {
  GraphDrawer(dice, operators, trial).draw();
}

}  // namespace stoker::torture
