// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/plan.h"

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
  if (options_.batch_size < 1)
    throw GraphError("batch_size is " + std::to_string(options_.batch_size) +
                     "; it must be at least 1");
  if (graph_.outputs.empty())
    throw GraphError(
        "the pipeline has no outputs; return them from the function or call set_outputs");
  mark_used();
  open_readers();
  find_passes();
  find_slots();
}

void Plan::mark_used() {
  const auto use = [&](const Ref& r, bool on_device) {
    PlanNode& p = nodes_[r.node];
    p.is_used = true;
    p.is_on_device |= on_device && node(r.node).device == DeviceKind::kGpu;
  };
  for (const Ref& r : graph_.outputs) use(r, true);
  for (int i = size() - 1; i >= 0; --i) {
    if (!nodes_[i].is_used) continue;
    for (size_t k = 0; k < node(i).inputs.size(); ++k)
      if (const auto& in = node(i).inputs[k])
        use(*in, nodes_[i].is_on_device && !checked_[i].type->inputs[k].is_value);
    for (auto& link : node(i).links) use(link.from, false);
    if (nodes_[i].is_on_device) device_nodes_.push_back(i);
  }
  std::reverse(device_nodes_.begin(), device_nodes_.end());
  for (int i = 0; i < size(); ++i) {
    if (!nodes_[i].is_used) continue;
    if (node(i).device == DeviceKind::kMixed) {
      nodes_[i].mixed = static_cast<int>(mixed_nodes_.size());
      mixed_nodes_.push_back(i);
    }
    if (checked_[i].type->kind == OperatorKind::kInput) {
      nodes_[i].input = input_count();
      inputs_.push_back(i);
    }
    if (!checked_[i].type->infers) mark_early(i);
    for (auto& link : node(i).links) mark_early(link.from.node);
    for (size_t k = 0; k < node(i).inputs.size(); ++k)
      if (node(i).inputs[k] && checked_[i].type->inputs[k].is_value)
        mark_early(node(i).inputs[k]->node);
  }
}

// A value that decides shapes or arguments, with all that it is made of.
void Plan::mark_early(int i) {
  if (std::exchange(nodes_[i].is_early, true)) return;
  for (auto& in : node(i).inputs)
    if (in) mark_early(in->node);
  for (auto& link : node(i).links) mark_early(link.from.node);
}

void Plan::open_readers() {
  bool has_lead = false;
  for (int i = 0; i < size(); ++i) {
    if (!nodes_[i].is_used || checked_[i].type->kind != OperatorKind::kRead) continue;
    try {
      nodes_[i].source = checked_[i].op->open();
      io::OrderSpec spec = checked_[i].op->order(nodes_[i].source->size());
      spec.batch_size = options_.batch_size;
      orders_.emplace_back(spec);
    } catch (const GraphError& e) {
      throw GraphError(place_of(node(i)) + ": " + e.what());
    }
    nodes_[i].reader = reader_count();
    if (node(i).is_lead) {
      if (has_lead) throw GraphError(place_of(node(i)) + ": only one reader can be the lead");
      has_lead = true;
      lead_ = reader_count();
    }
    readers_.push_back(i);
  }
  if (!readers_.empty()) return;
  // Without a reader the pipeline counts its own samples, without end, dealt to the shards.
  io::OrderSpec own;
  own.size = io::Order::kMaxSize;
  own.batch_size = options_.batch_size * options_.num_shards;
  orders_.emplace_back(own);
  own_offset_ = options_.shard_id * options_.batch_size;
}

void Plan::find_passes() {
  std::vector<int> uses(size());
  std::vector<int> consumer(size(), -1);
  auto use = [&](const Ref& r, int by) { ++uses[r.node], consumer[r.node] = by; };
  for (int i = 0; i < size(); ++i) {
    if (!nodes_[i].is_used) continue;
    for (size_t k = 0; k < node(i).inputs.size(); ++k)
      if (node(i).inputs[k]) use(*node(i).inputs[k], k == 0 ? i : -1);
    for (auto& link : node(i).links) use(link.from, -1);
  }
  for (const Ref& r : graph_.outputs) use(r, -1);
  auto lowers = [&](int i) { return checked_[i].type->kind == OperatorKind::kLower; };
  auto per_frame = [&](int i) {
    return checked_[i].unfold &&
           std::any_of(checked_[i].link_arguments.begin(), checked_[i].link_arguments.end(),
                       [&](int a) { return checked_[i].type->arguments[a].per_frame; });
  };
  for (int i = 0; i < size(); ++i) {
    const int next = consumer[i];
    if (!nodes_[i].is_used || nodes_[i].is_early || uses[i] != 1 || next < 0) continue;
    if (node(i).device != node(next).device || checked_[i].unfold != checked_[next].unfold)
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

void Plan::find_slots() {
  for (int i = 0; i < size(); ++i) nodes_[i].output_slots.assign(checked_[i].outputs.size(), -1);
  for (const Ref& r : graph_.outputs)
    if (node(r.node).device == DeviceKind::kCpu) add_slot(r);
  for (const Output& o : graph_.outputs) {
    const bool is_copy = o.to_host && node(o.node).device != DeviceKind::kCpu;
    host_copy_of_.push_back(is_copy ? static_cast<int>(host_copies_.size()) : -1);
    if (is_copy) host_copies_.push_back({o, checked_[o.node].outputs[o.output]});
  }
  for (int i : device_nodes_)
    for (size_t k = 0; k < node(i).inputs.size(); ++k)
      if (const auto& in = node(i).inputs[k];
          in && node(in->node).device == DeviceKind::kCpu && !checked_[i].type->inputs[k].is_value)
        add_slot(*in);
}

std::string Plan::name(int64_t index) const {
  return readers_.empty() ? "" : source(lead_).name(index);
}

// Makes no more of its output than lowered operators look at.
bool Plan::is_narrowed(int i) const {
  if (!options_.rewrites.demand || checked_[i].type->kind != OperatorKind::kSample) return false;
  if (nodes_[i].is_early) return false;
  for (int slot : nodes_[i].output_slots)
    if (slot >= 0) return false;
  for (const Ref& r : graph_.outputs)
    if (r.node == i) return false;
  for (int k = i + 1; k < size(); ++k) {
    const bool lowers = checked_[k].type->kind == OperatorKind::kLower;
    const auto& inputs = node(k).inputs;
    for (size_t n = 0; nodes_[k].is_used && n < inputs.size(); ++n)
      if (inputs[n] && inputs[n]->node == i && (n > 0 || !lowers)) return false;
  }
  return true;
}

std::string Plan::early_words(int i) const {
  std::string words = "first, it decides shapes or arguments";
  if (node(i).device == DeviceKind::kGpu) words.insert(0, "on the CPU ");
  if (nodes_[i].is_on_device) words += "; again on the GPU";
  return words;
}

std::string Plan::str() const {
  std::string s;
  for (int i = 0; i < size(); ++i) {
    const PlanNode& p = nodes_[i];
    static constexpr const char* kStages[] = {"chain ", "gpu   ", "mixed "};
    s += kStages[static_cast<int>(node(i).device)] + place_of(node(i));
    if (!p.is_used) s += ": left out, no output needs it";
    else if (p.source)
      s += ": " + std::to_string(p.source->size()) + " samples, read ahead in order";
    else if (p.input >= 0) s += ": fed by the user";
    else if (p.fuses_into >= 0) s += ": in one pass with " + node(p.fuses_into).name;
    else if (p.is_early) s += ": " + early_words(i);
    else if (p.is_on_device && checked_[i].type->kind == OperatorKind::kSample)
      s += ": one launch for a batch";
    else if (is_narrowed(i)) s += ": only the window that later operators look at";
    for (int slot : p.output_slots)
      if (slot >= 0)
        s += std::string("; written ") +
             (slots_[slot].is_fixed() ? "into one contiguous batch " : "as separate samples ") +
             slots_[slot].type.str();
    for (const Slot& copy : host_copies_)
      if (copy.from.node == i) s += "; copied to the host, " + copy.type.str();
    s += "\n";
  }
  return s;
}

}  // namespace stoker
