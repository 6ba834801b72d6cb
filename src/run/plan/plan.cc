// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/plan/plan.h"

#include <array>
#include <map>
#include <set>

namespace stoker {

bool is_fixed(const TensorType& type) {
  if (type.shape.rank < 0) return false;
  return std::all_of(type.shape.extent, type.shape.extent + type.shape.rank,
                     [](int64_t e) { return e >= 0; });
}

Plan::Plan(Graph graph, const PlanOptions& options)
    : graph_(std::move(graph)),
      options_(options),
      checked_(check(graph_)),
      nodes_(graph_.nodes.size()) {
  if (graph_.outputs.empty())
    throw GraphError(
        "the pipeline has no outputs; return them from the function or call set_outputs");
  find_levels();
  mark_used();
  number_used();
  find_stages();
  open_readers();
  find_sources();
  find_passes();
  find_slots();
  find_host_copies();
  find_device_uses();
  find_carried();
}

template <class Use>
void Plan::for_each_input(int i, const Use& use) const {
  for (size_t k = 0; k < node(i).inputs.size(); ++k)
    if (const auto& in = node(i).inputs[k]) use(*in, checked_[i].type->input(k).is_value);
  for (const ArgumentLink& link : node(i).links) use(link.from, true);
  for (const Guard& guard : node(i).guards) use(guard.condition, true);
}

// Whether node i, on the host, reads a value that is made on the device: see Note [Stages].
bool Plan::reads_host_copy(int i, const Ref& from, bool is_value) const {
  if (!ends_on_device(from)) return false;
  return is_value ? !checked_[from.node].has_cpu_form : node(i).device != DeviceKind::kGpu;
}

// Stages are in the order of their levels: chains have 0, 4, 8, ..., stages that see whole batches
// 2, 6, 10, ..., and the kDevice stages that run what either has found for the device have the
// level behind it. A node is of the first level of its kind that is not before the levels of its
// inputs, and comes after the copies to the host that it reads.
void Plan::find_levels() {
  for (int i = 0; i < size(); ++i) {
    int& level = nodes_[i].level = checked_[i].sees_batch ? 2 : 0;
    for_each_input(i, [&](const Ref& from, bool is_value) {
      const int behind_copy = reads_host_copy(i, from, is_value) ? 2 : 0;
      while (level < nodes_[from.node].level + behind_copy) level += 4;
    });
  }
}

// Which nodes the outputs need, and which are early: their values decide shapes or arguments, or an
// early node of their stage depends on them. A node comes behind its inputs, so it goes backwards.
void Plan::mark_used() {
  const auto use = [&](const Ref& r, bool on_device) {
    PlanNode& p = nodes_[r.node];
    p.is_used = true;
    p.is_needed_on_device |= on_device && node(r.node).device == DeviceKind::kGpu;
  };
  for (const Ref& r : graph_.outputs) use(r, true);
  for (int i = size() - 1; i >= 0; --i) {
    PlanNode& p = nodes_[i];
    if (!p.is_used) continue;
    p.is_early |= !checked_[i].type->infers();
    for_each_input(i, [&](const Ref& from, bool is_value) {
      const bool reads_copy = reads_host_copy(i, from, is_value);
      use(from, reads_copy || (p.is_needed_on_device && !is_value));
      // What an earlier stage makes on the CPU is there. What it makes on the device is needed in
      // its CPU form.
      const bool is_there = nodes_[from.node].level < p.level && !ends_on_device(from);
      nodes_[from.node].is_early |=
          !reads_copy && !is_there && !is_inferred(from) && (is_value || p.is_early);
    });
  }
}

void Plan::number_used() {
  const auto number = [](std::vector<int>& list, int node) {
    list.push_back(node);
    return static_cast<int>(list.size()) - 1;
  };
  for (int i = 0; i < size(); ++i) {
    PlanNode& p = nodes_[i];
    if (!p.is_used) continue;
    if (p.is_needed_on_device) p.device_number = number(device_nodes_, i);
    if (node(i).device == DeviceKind::kMixed) p.mixed_number = number(mixed_nodes_, i);
    if (checked_[i].type->is_input) p.input_number = number(inputs_, i);
  }
}

void Plan::find_stages() {
  // By level and, since each operator that sees whole batches has a stage, by node.
  std::map<std::pair<int, int>, std::vector<int>> nodes;
  const auto runs_on_device = [&](int i) {
    return nodes_[i].is_needed_on_device || nodes_[i].mixed_number >= 0;
  };
  nodes[{0, 0}];  // the first chain finds where samples come from, also where it has no nodes
  for (int i = 0; i < size(); ++i) {
    if (!nodes_[i].is_used) continue;
    nodes[{nodes_[i].level, checked_[i].sees_batch ? i : 0}].push_back(i);
    if (runs_on_device(i)) nodes[{nodes_[i].level + 1, 0}].push_back(i);
  }
  for (auto& [key, list] : nodes) {
    const int s = stage_count();
    constexpr std::array kKinds = {StageKind::kChain, StageKind::kDevice, StageKind::kBatch,
                                   StageKind::kDevice};
    StageKind kind = kKinds[static_cast<size_t>(key.first % 4)];
    if (kind == StageKind::kBatch && checked_[list[0]].type->is_user_code) {
      kind = StageKind::kPython;
      const Node& n = node(list[0]);
      if (!n.function) throw GraphError(node_in_words(n) + ": has no function; none is saved");
    }
    for (int i : list) (kind == StageKind::kDevice ? nodes_[i].device_stage : nodes_[i].stage) = s;
    if (kind == StageKind::kChain) last_chain_ = s;
    if (key.first % 4 == 2) first_batch_ = std::min(first_batch_, s);
    stages_.push_back({kind, std::move(list), {}});
  }
  // The last stage of a graph with a device hands out what lies there.
  if (has_device_stage() && stages_.back().kind != StageKind::kDevice)
    stages_.push_back({StageKind::kDevice, {}, {}});
}

void Plan::open_readers() {
  bool has_lead = false;
  for (int i = 0; i < size(); ++i) {
    if (!nodes_[i].is_used || !checked_[i].type->reads) continue;
    try {
      const CheckedNode& c = checked_[i];
      if (nodes_[i].level > 0)
        throw GraphError(
            "its arguments follow from a whole batch or from a device; samples are read before");
      nodes_[i].store = c.type->reads->open(*c.op);
      io::OrderSpec spec = c.type->reads->order(*c.op, *nodes_[i].store);
      spec.batch_size = options_.batch_size;
      orders_.emplace_back(spec);
    } catch (const GraphError& e) {
      throw GraphError(node_in_words(node(i)) + ": " + e.what());
    }
    if (node(i).is_lead) {
      if (has_lead) throw GraphError(node_in_words(node(i)) + ": only one reader can be the lead");
      has_lead = true;
      lead_ = reader_count();
    }
    readers_.push_back(i);
  }
  if (!readers_.empty()) return;
  // A pipeline without a reader counts its own samples endlessly and deals them to the shards.
  io::OrderSpec own;
  own.size = io::Order::kMaxSize;
  own.batch_size = options_.batch_size * options_.num_shards;
  orders_.emplace_back(own);
  own_offset_ = options_.shard_id * options_.batch_size;
}

void Plan::find_sources() {
  const int none = reader_count() + input_count();
  for (int r = 0; r < reader_count(); ++r) nodes_[readers_[r]].source = r;
  for (int i = 0; i < size(); ++i) {
    PlanNode& p = nodes_[i];
    if (p.store) continue;
    p.source = p.input_number >= 0 ? reader_count() + p.input_number : none;
    for (const auto& in : node(i).inputs)
      if (in && p.source == none) p.source = nodes_[in->node].source;
  }
  for (PlanNode& p : nodes_)
    if (p.source == none && reader_count()) p.source = lead_;
}

void Plan::find_passes() {
  std::vector<int> uses(size());
  std::vector<int> consumer(size(), -1);
  auto use = [&](const Ref& r, int by) {
    if (!is_inferred(r)) ++uses[r.node], consumer[r.node] = by;
  };
  for (int i = 0; i < size(); ++i) {
    if (!nodes_[i].is_used) continue;
    for (size_t k = 0; k < node(i).inputs.size(); ++k)
      if (node(i).inputs[k]) use(*node(i).inputs[k], k == 0 ? i : -1);
    for (auto& link : node(i).links) use(link.from, -1);
    for (auto& guard : node(i).guards) use(guard.condition, -1);
  }
  for (const Ref& r : graph_.outputs) use(r, -1);
  auto lowers = [&](int i) { return checked_[i].lowers(); };
  auto per_frame = [&](int i) {
    return checked_[i].unfold &&
           std::any_of(checked_[i].link_arguments.begin(), checked_[i].link_arguments.end(),
                       [&](int a) { return checked_[i].type->arguments[a].per_frame; });
  };
  for (int i = 0; i < size(); ++i) {
    const int next = consumer[i];
    if (!nodes_[i].is_used || nodes_[i].is_early || uses[i] != 1 || next < 0) continue;
    if (node(i).device != node(next).device || checked_[i].unfold != checked_[next].unfold ||
        nodes_[i].stage != nodes_[next].stage || node(i).guards != node(next).guards)
      continue;
    if (node(i).device == DeviceKind::kCpu && !options_.rewrites.fuse) continue;
    if (lowers(i) && lowers(next) && !nodes_[next].is_early && !per_frame(i) && !per_frame(next))
      nodes_[i].fuses_into = next;
  }
}

int Plan::add_slot(Ref from) {
  int& slot = nodes_[from.node].output_slots[from.output];
  if (slot < 0) {
    slot = static_cast<int>(slots_.size());
    slots_.push_back({from, checked_[from.node].outputs[from.output]});
  }
  return slot;
}

bool Plan::is_host_copy_read(const Ref& value) const {
  bool is = false;
  for (int i = 0; i < size(); ++i)
    if (nodes_[i].is_used)
      for_each_input(i, [&](const Ref& from, bool is_value) {
        is |= from == value && reads_host_copy(i, from, is_value);
      });
  return is;
}

void Plan::find_slots() {
  for (int i = 0; i < size(); ++i) nodes_[i].output_slots.assign(checked_[i].outputs.size(), -1);
  for (const Ref& r : graph_.outputs)
    if (!ends_on_device(r)) add_slot(r);
  for (int i = 0; i < size(); ++i) {
    const PlanNode& p = nodes_[i];
    if (!p.is_used) continue;
    for_each_input(i, [&](const Ref& from, bool is_value) {
      const bool goes_up = p.is_needed_on_device && !is_value && !ends_on_device(from);
      const bool is_seen_on_host = is_value || !ends_on_device(i) || p.is_early;
      // Values that the user fed are at hand in every stage.
      const bool crosses = stage_of(from) != p.stage && nodes_[from.node].input_number < 0;
      if (goes_up || (crosses && is_seen_on_host && !is_host_copy_read(from))) add_slot(from);
    });
  }
  delivered_ = slot_count();
}

void Plan::find_host_copies() {
  const auto add = [&](const Ref& value) {
    slots_.push_back({value, checked_[value.node].outputs[value.output]});
    return slot_count() - 1;
  };
  for (int i = 0; i < size(); ++i)
    if (nodes_[i].is_used)
      for_each_input(i, [&](const Ref& from, bool is_value) {
        if (reads_host_copy(i, from, is_value) && host_copy(from) < 0) add(from);
      });
  // A graph output may take the copy that a node on the CPU reads, because no stage uses it any
  // more then. No two outputs share bytes.
  std::set<int> taken;
  for (const Output& o : graph_.outputs) {
    int& slot = slot_of_output_.emplace_back(-1);
    if (!ends_on_device(o.node) || (is_inferred(o) && o.to_host)) slot = slot_of(o);
    else if (o.to_host)
      slot = host_copy(o) >= 0 && !taken.contains(host_copy(o)) ? host_copy(o) : add(o);
    if (slot >= 0) taken.insert(slot);
  }
}

int Plan::host_copy(const Ref& value) const {
  for (int k = delivered_; k < slot_count(); ++k)
    if (slots_[k].from == value) return k;
  return -1;
}

void Plan::find_device_uses() {
  for (int i = 0; i < size(); ++i) nodes_[i].device_uses.resize(checked_[i].outputs.size());
  const auto use = [&](const Ref& r) -> PlanNode::DeviceUse& {
    return nodes_[r.node].device_uses[r.output];
  };
  for (int i : device_nodes_)
    for_each_input(i, [&](const Ref& from, bool is_value) {
      if (is_value) return;
      ++use(from).nodes;
      use(from).last_stage = std::max(use(from).last_stage, nodes_[i].device_stage);
    });
  for (size_t k = 0; k < graph_.outputs.size(); ++k)
    if (slot_of_output_[k] < 0) use(graph_.outputs[k]).last_stage = stage_count();
}

void Plan::find_carried() {
  for (int i = 0; i < size(); ++i)
    if (nodes_[i].is_used)
      for_each_input(i, [&](const Ref& from, bool is_value) {
        if (reads_host_copy(i, from, is_value))
          stages_[nodes_[from.node].device_stage].is_awaited = true;
        if (stage_of(from) == nodes_[i].stage || nodes_[from.node].input_number >= 0) return;
        std::vector<Carried>& list = stages_[nodes_[i].stage].carried;
        const auto is_it = [&](const Carried& c) { return c.from == from; };
        if (std::none_of(list.begin(), list.end(), is_it)) list.push_back({from, host_slot(from)});
      });
}

int Plan::host_slot(const Ref& value) const {
  return is_host_copy_read(value) ? host_copy(value) : slot_of(value);
}

bool Plan::has_copied_outputs() const {
  return std::any_of(slot_of_output_.begin(), slot_of_output_.end(),
                     [&](int slot) { return slot >= 0 && is_host_copy(slot); });
}

// Whether the node makes only the part of its output that lowered operators read.
bool Plan::is_narrowed(int i) const {
  if (!options_.rewrites.demand || !checked_[i].type->runs || checked_[i].sees_batch) return false;
  if (nodes_[i].is_early) return false;
  for (int slot : nodes_[i].output_slots)
    if (slot >= 0) return false;
  for (const Ref& r : graph_.outputs)
    if (r.node == i) return false;
  for (int k = i + 1; k < size(); ++k) {
    const bool lowers = checked_[k].lowers();
    const auto& inputs = node(k).inputs;
    for (size_t n = 0; nodes_[k].is_used && n < inputs.size(); ++n)
      if (inputs[n] && inputs[n]->node == i &&
          (n > 0 || !lowers || nodes_[k].stage != nodes_[i].stage))
        return false;
  }
  return true;
}

std::string Plan::early_words(int i) const {
  std::string words = "first, it decides shapes or arguments";
  if (node(i).device == DeviceKind::kGpu) words.insert(0, "on the CPU ");
  if (nodes_[i].is_needed_on_device) words += "; again on the GPU";
  return words;
}

// How the line of a node begins: what runs it.
const char* Plan::stage_words(int i) const {
  if (node(i).device == DeviceKind::kMixed) return "mixed ";
  if (node(i).device == DeviceKind::kGpu) return "gpu   ";
  if (!checked_[i].sees_batch) return "chain ";
  return checked_[i].type->is_user_code ? "python " : "batch ";
}

std::string Plan::str() const {
  static constexpr const char* kKinds[] = {"chain", "gpu", "batch", "python"};
  const bool has_several = stage_count() > 1 + has_device_stage();
  std::string s;
  for (const Stage& stage : stages_)
    if (has_several) s += (s.empty() ? "stages: " : ", ") + std::string(kKinds[int(stage.kind)]);
  if (has_several) s += "; each begins when the one before it has ended for the whole batch\n";
  for (int i = 0; i < size(); ++i) {
    const PlanNode& p = nodes_[i];
    s += stage_words(i);
    if (has_several && p.is_used) s += std::to_string(std::max(p.stage, p.device_stage) + 1) + " ";
    s += node_in_words(node(i));
    if (!p.is_used) s += ": left out, no output needs it";
    else if (p.store) s += ": " + std::to_string(p.store->size()) + " samples, read ahead in order";
    else if (p.input_number >= 0) s += ": fed by the user";
    else if (p.fuses_into >= 0) s += ": in one pass with " + node(p.fuses_into).name;
    else if (p.is_early) s += ": " + early_words(i);
    else if (p.is_needed_on_device && checked_[i].type->runs_on_gpu)
      s += ": one launch for a batch";
    else if (is_narrowed(i)) s += ": only the window that later operators look at";
    if (!node(i).guards.empty()) s += "; only where " + guards_in_words(graph_, node(i));
    for (int slot : p.output_slots)
      if (slot >= 0)
        s += std::string("; written ") +
             (slots_[slot].is_fixed()  ? "into one contiguous batch "
              : checked_[i].sees_batch ? "into one contiguous batch where shapes agree "
                                       : "as separate samples ") +
             slots_[slot].type.str();
    for (int k = delivered_; k < slot_count(); ++k)
      if (slots_[k].from.node == i) s += "; copied to the host, " + slots_[k].type.str();
    s += "\n";
  }
  return s;
}

}  // namespace stoker
