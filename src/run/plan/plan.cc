// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/plan/plan.h"

#include <array>
#include <map>

#include "op/reader.h"

namespace stoker {

namespace {

// Whether an argument of a reader decides only the order of its samples.
bool is_of_order(const std::string& argument) {
  return std::apply([&](const auto&... row) { return ((argument == row.name) || ...); },
                    kReaderArguments);
}

// What decides which samples a reader has: its operator and its arguments, except those of order.
using ReaderKey = std::pair<std::string, Arguments>;
ReaderKey key_of_reader(const Node& n) {
  ReaderKey source{n.op, n.arguments};
  std::erase_if(source.second, [](const auto& a) { return is_of_order(a.first); });
  return source;
}

}  // namespace

bool is_fixed(const TensorType& type) {
  if (type.shape.rank < 0) return false;
  return std::all_of(type.shape.extent, type.shape.extent + type.shape.rank,
                     [](int64_t e) { return e >= 0; });
}

Plan::Plan(CheckedGraph checked, const PlanOptions& options)
    : graph_(std::move(checked.graph)),
      options_(options),
      checked_(std::move(checked.nodes)),
      nodes_(graph_.nodes.size()) {
  number_variants(checked);
  if (graph_.outputs.empty())
    throw GraphError(
        "the pipeline has no outputs; return them from the function or call set_outputs");
  find_reads();
  find_levels();
  mark_used();
  number_used();
  find_stages();
  open_readers();
  find_sources();
  find_passes();
  find_slots();
  find_host_copies();
  find_uses();
  find_asked();
}

void Plan::number_variants(const CheckedGraph& checked) {
  for (const std::vector<Variant>& given : checked.variants) {
    std::vector<PlanVariant>& list = variants_.emplace_back();
    for (const Variant& v : given) {
      list.push_back({named_by_.size(), v.sides});
      named_by_.push_back(given[0].value.node);
    }
  }
}

void Plan::find_reads() {
  for (int i = 0; i < size(); ++i) {
    const auto read = [&](const Ref& from, bool is_value, bool is_first) {
      const bool on_host =
          is_value ? !checked_[from.node].has_cpu_form : node(i).device != DeviceKind::kGpu;
      reads_.push_back({i, from, is_value, is_first, on_host && ends_on_device(from)});
    };
    for (size_t k = 0; k < node(i).inputs.size(); ++k)
      if (const auto& in = node(i).inputs[k])
        read(*in, checked_[i].type->input(k).is_value, k == 0);
    for (const ArgumentLink& link : node(i).links) read(link.from, true, false);
    for (const Guard& guard : node(i).guards) read(guard.condition, true, false);
  }
}

// Stages are in the order of their levels: chains have 0, 4, 8, ..., stages that see whole batches
// 2, 6, 10, ..., and the kDevice stage that runs what one of these has found for the device has the
// level behind it. A node is of the first level of its kind that is not before the levels of its
// inputs, and comes after the copies to the host that it reads.
void Plan::find_levels() {
  for (int i = 0; i < size(); ++i) nodes_[i].level = checked_[i].sees_batch ? 2 : 0;
  for (const Read& r : reads_)
    while (nodes_[r.node].level < nodes_[r.from.node].level + (r.is_copy ? 2 : 0))
      nodes_[r.node].level += 4;
}

// Which nodes the outputs need, and which are early: their values decide shapes or arguments, or an
// early node of their stage depends on them. Goes backwards, as a node comes behind its inputs.
void Plan::mark_used() {
  const auto use = [&](const Ref& r, bool on_device) {
    PlanNode& p = nodes_[r.node];
    p.is_used = true;
    p.is_early |= !checked_[r.node].type->infers();
    p.is_needed_on_device |= on_device && node(r.node).device == DeviceKind::kGpu;
  };
  for (const Ref& r : graph_.outputs) use(r, true);
  for (auto r = reads_.rbegin(); r != reads_.rend(); ++r) {
    const PlanNode& p = nodes_[r->node];
    if (!p.is_used) continue;
    use(r->from, r->is_copy || (p.is_needed_on_device && !r->is_value));
    // What an earlier stage made on the CPU is there. Else its CPU form is needed.
    PlanNode& from = nodes_[r->from.node];
    const bool is_there = from.level < p.level && !ends_on_device(r->from);
    from.is_early |=
        !r->is_copy && !is_there && !is_inferred(r->from) && (r->is_value || p.is_early);
  }
  std::erase_if(reads_, [&](const Read& r) { return !nodes_[r.node].is_used; });
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
  // By level and, because each operator that sees whole batches has a stage, by node.
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
  std::map<ReaderKey, std::shared_ptr<const SampleStore>> stores;
  bool has_lead = false;
  for (int i = 0; i < size(); ++i) {
    if (!nodes_[i].is_used || !checked_[i].type->reads) continue;
    try {
      const CheckedNode& c = checked_[i];
      if (nodes_[i].level > 0)
        throw GraphError(
            "its arguments follow from a whole batch or from a device; samples are read before");
      std::shared_ptr<const SampleStore>& store = stores[key_of_reader(node(i))];
      if (!store) store = c.type->reads->open(*c.op);
      nodes_[i].store = store;
      io::OrderSpec spec = c.type->reads->order(*c.op, *nodes_[i].store);
      spec.batch_size = options_.batch_size;
      orders_.emplace_back(spec);
    } catch (const GraphError& e) {
      throw_like<GraphError>(e, node_in_words(node(i)) + ": " + e.what());
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

std::vector<std::string> Plan::warnings() const {
  std::vector<std::string> all;
  for (int i = 0; i < size(); ++i) {
    const auto& store = nodes_[i].store;
    for (const std::string& w : {checked(i).warning, store ? store->warning() : ""})
      if (!w.empty()) all.push_back(node_in_words(node(i)) + ": " + w);
  }
  return all;
}

void Plan::find_sources() {
  const int none = source_of_nothing();
  for (int r = 0; r < reader_count(); ++r) nodes_[readers_[r]].source = r;
  for (int i = 0; i < size(); ++i) {
    PlanNode& p = nodes_[i];
    if (p.store) continue;
    p.source = p.input_number >= 0 ? reader_count() + p.input_number : none;
    for (const auto& in : node(i).inputs)
      if (in && p.source == none) p.source = nodes_[in->node].source;
    if (!checked_[i].type->joins || p.source == none) continue;
    p.joint = static_cast<int>(joints_.size());
    Joint& joint = joints_.emplace_back(Joint{p.source, {}});
    for (const auto& in : node(i).inputs) joint.of_inputs.push_back(nodes_[in->node].source);
    p.source = source_of_joint(p.joint);
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
  for (const Read& r : reads_) use(r.from, r.is_first ? r.node : -1);
  for (const Ref& r : graph_.outputs) use(r, -1);
  auto lowers = [&](int i) { return checked_[i].lowers(); };
  auto per_frame = [&](int i) {
    const CheckedNode& c = checked_[i];
    const auto varies = [&](int a) { return c.type->arguments[a].per_frame; };
    return c.unfold && (std::ranges::any_of(c.link_arguments, varies) ||
                        std::ranges::any_of(c.frame_values, std::identity()));
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

int Plan::new_slot(const Ref& value) {
  slots_.push_back({value, checked_[value.node].outputs[value.output]});
  return slot_count() - 1;
}

void Plan::add_slot(const Ref& value, int& slot) {
  if (slot < 0) slot = new_slot(value);
}

// This slot, or a new one if another output has it.
int Plan::slot_for_output(const Ref& value, int& slot) {
  add_slot(value, slot);
  const auto& taken = slot_of_output_;
  return std::find(taken.begin(), taken.end(), slot) == taken.end() ? slot : new_slot(value);
}

void Plan::find_slots() {
  for (int i = 0; i < size(); ++i) nodes_[i].outputs.resize(checked_[i].outputs.size());
  for (const Read& r : reads_) output(r.from).is_copy_read |= r.is_copy;
  for (const Output& o : graph_.outputs) {
    int& slot = slot_of_output_.emplace_back(-1);
    if (ends_on_device(o)) continue;
    if (o.to_host || !ends_on_device(o.node)) slot = slot_for_output(o, output(o).slot);
    else add_slot(o, output(o).slot);
  }
  for (const Read& r : reads_) {
    const PlanNode& p = nodes_[r.node];
    const bool goes_up = is_on_device(r) && !ends_on_device(r.from);
    const bool is_seen_on_host = r.is_value || !ends_on_device(r.node) || p.is_early;
    if (goes_up || (is_carried(r) && is_seen_on_host && !output(r.from).is_copy_read))
      add_slot(r.from, output(r.from).slot);
  }
  delivered_ = slot_count();
}

void Plan::find_host_copies() {
  for (const Read& r : reads_)
    if (r.is_copy) add_slot(r.from, output(r.from).host_copy);
  // A graph output may take the copy that a node on the CPU reads: no stage uses it any more then.
  for (size_t k = 0; k < graph_.outputs.size(); ++k)
    if (const Output& o = graph_.outputs[k]; ends_on_device(o) && o.to_host) {
      slot_of_output_[k] = slot_for_output(o, output(o).host_copy);
      has_copied_outputs_ = true;
    }
}

void Plan::find_uses() {
  for (size_t k = 0; k < graph_.outputs.size(); ++k)
    if (slot_of_output_[k] < 0) output(graph_.outputs[k]).last_device_stage = INT_MAX;
  for (const Read& r : reads_) {
    PlanOutput& value = output(r.from);
    value.reads_on_device += is_on_device(r);
    if (is_on_device(r))
      value.last_device_stage = std::max(value.last_device_stage, nodes_[r.node].device_stage);
    if (r.is_copy) stages_[nodes_[r.from.node].device_stage].is_awaited = true;
    if (!is_carried(r)) continue;
    std::vector<Carried>& list = stages_[nodes_[r.node].stage].carried;
    const auto is_it = [&](const Carried& c) { return c.from == r.from; };
    if (std::none_of(list.begin(), list.end(), is_it)) list.push_back({r.from, host_slot(r.from)});
  }
}

void Plan::find_asked() {
  for (const int n : readers_) nodes_[n].asked.resize(nodes_[n].outputs.size());
  const auto ask = [&](const Ref& r) {
    if (nodes_[r.node].store) nodes_[r.node].asked[static_cast<size_t>(r.output)] = true;
  };
  for (const Read& r : reads_) ask(r.from);
  for (const Output& o : graph_.outputs) ask(o);
}

// Whether the node makes only the part of its output that lowered operators read.
bool Plan::is_narrowed(int i) const {
  if (!options_.rewrites.demand || !checked_[i].type->runs || checked_[i].sees_batch) return false;
  if (nodes_[i].is_early) return false;
  for (const PlanOutput& o : nodes_[i].outputs)
    if (o.slot >= 0) return false;
  for (const Ref& r : graph_.outputs)
    if (r.node == i) return false;
  return std::all_of(reads_.begin(), reads_.end(), [&](const Read& r) {
    return r.from.node != i || (r.is_first && checked_[r.node].lowers() && !is_carried(r));
  });
}

// How the line of a node begins.
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
    else if (p.is_early)
      s += std::string(node(i).device == DeviceKind::kGpu ? ": on the CPU first" : ": first") +
           ", it decides shapes or arguments" + (p.is_needed_on_device ? "; again on the GPU" : "");
    else if (p.is_needed_on_device && checked_[i].type->runs_on_gpu)
      s += ": one launch for a batch";
    else if (is_narrowed(i)) s += ": only the window that later operators look at";
    if (!node(i).guards.empty()) s += "; only where " + guards_in_words(graph_, node(i));
    for (const PlanOutput& o : p.outputs)
      if (o.slot >= 0)
        s += std::string("; written ") +
             (slots_[o.slot].is_fixed() ? "into one contiguous batch "
              : checked_[i].sees_batch  ? "into one contiguous batch where shapes agree "
                                        : "as separate samples ") +
             slots_[o.slot].type.str();
    for (int k = delivered_; k < slot_count(); ++k)
      if (slots_[k].from.node == i) s += "; copied to the host, " + slots_[k].type.str();
    s += "\n";
  }
  return s + variants_in_words();
}

std::string Plan::variants_in_words() const {
  std::string s;
  for (size_t k = 0; k < variants_.size(); ++k) {
    if (variants_[k].size() == 1) continue;
    s += "output " + std::to_string(k) + ":";
    for (const PlanVariant& v : variants_[k]) {
      const Ref& from = graph_.outputs[v.output];
      s += (&v == &variants_[k][0] ? " " : " or ") +
           checked_[from.node].outputs[from.output].str() + " of " + node(from.node).name;
    }
    s += "; the samples of a batch have one type\n";
  }
  return s;
}

}  // namespace stoker
