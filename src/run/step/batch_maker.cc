// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/step/batch_maker.h"

#include "kernels/strided_copy.h"

namespace stoker {

namespace {

bool holds(const Step& step, const Guard& g, int i) {
  return step.has(g.condition, i) && is_true(step.slots.host_view(g.condition, i)) == g.when;
}

// The samples that are made and for which the node's guards hold. Throws SampleError where there
// are others as well that only a side keeps away: Note [Sides that differ] (graph/graph.h).
std::vector<int> samples_of(const Step& step, int index) {
  const Node& node = step.plan.node(index);
  const auto is_of_side = [&](const Guard& g) {
    return std::ranges::any_of(node.sides, [&](const Side& s) { return s.guard() == g; });
  };
  std::vector<int> samples = step.samples.made();
  for (const Guard& g : node.guards)
    if (!is_of_side(g)) std::erase_if(samples, [&](int i) { return !holds(step, g, i); });
  const size_t of_all_sides = samples.size();
  for (const Side& s : node.sides) {
    std::erase_if(samples, [&](int i) { return !holds(step, s.guard(), i); });
    if (!samples.empty() && samples.size() < of_all_sides)
      throw SampleError("sees whole batches; of " + node_in_words(s.fork->merge) + ", " +
                        meeting_in_words(step.plan.graph(), *s.fork));
  }
  return samples;
}

}  // namespace

// The operator for each sample: the plan's own, or copies that hold the computed arguments.
std::vector<std::shared_ptr<const Operator>> BatchMaker::resolve(
    const Step& step, int node, std::span<const int> samples) const {
  const CheckedNode& checked = plan_.checked(node);
  const auto& links = plan_.node(node).links;
  std::vector<std::shared_ptr<const Operator>> ops;
  for (int i : samples) {
    if (links.empty()) {
      ops.push_back(plan_.own_operator(node));
      continue;
    }
    const std::shared_ptr<Operator> copy = checked.op->clone();
    for (size_t k = 0; k < links.size(); ++k)
      copy->set(checked.link_arguments[k], step.slots.host_view(links[k].from, i));
    ops.push_back(copy);
  }
  return ops;
}

BatchInference::Item BatchMaker::item_of(const Step& step, int node, int i) const {
  const Origin& origin = step.samples.origin(node, i);
  BatchInference::Item item{.chance = plan_.chance(node, seed_, origin.who), .origin = origin};
  for (size_t k = 0; k < plan_.node(node).inputs.size(); ++k) {
    const auto& in = plan_.node(node).inputs[k];
    TensorType& type = item.inputs.emplace_back();
    View& value = item.values.emplace_back();
    if (!in) continue;
    const Port& port = plan_.checked(node).type->input(k);
    if (plan_.node(node).device == DeviceKind::kCpu || port.is_value)
      value = step.slots.host_view(*in, i);
    type = value.data ? value.whole() : step.type_of(*in, i);
    if (type.layout.empty() && *port.layouts) type.layout = default_layout(port, type.shape.rank);
    value.layout = type.layout;
  }
  return item;
}

BatchMaker::Types BatchMaker::infer(int node, std::span<BatchInference::Item> items,
                                    std::span<const Operator* const> ops) const {
  BatchInference inference{items};
  plan_.checked(node).type->runs_on_batch->infer(ops, inference);
  Types types;
  for (BatchInference::Item& item : items) {
    if (item.outputs.size() != plan_.checked(node).outputs.size())
      throw Error(plan_.node(node).op + ": infer_batch() gave a wrong number of outputs");
    for (const TensorType& t : item.outputs)
      if (!t.shape.is_possible())
        throw SampleError("the output would be " + t.str() + ", more than 2^40 elements");
    types.push_back(std::move(item.outputs));
  }
  return types;
}

// The slots that the output fills: on a device, its copies to the host.
std::vector<int> BatchMaker::slots_of(const Ref& value) const {
  std::vector<int> slots;
  const bool is_on_cpu = plan_.node(value.node).device == DeviceKind::kCpu;
  for (int k = 0; k < plan_.slot_count(); ++k)
    if (plan_.is_host_copy(k) != is_on_cpu && plan_.slot(k).from == value) slots.push_back(k);
  return slots;
}

// Copies what was made into the other slots of outputs that are named again.
void BatchMaker::deliver(const Step& step, int node, std::span<const int> samples,
                         const std::vector<std::vector<View>>& made) const {
  for (size_t k = 0; k < made[0].size(); ++k)
    for (int slot : slots_of({node, static_cast<int>(k)}))
      for (size_t s = 0; s < samples.size(); ++s) {
        const View& to = step.slots.view(slot, samples[s]);
        if (to.data != made[s][k].data) copy_to_dense(made[s][k], to.data);
      }
}

// Gives the memory of the node's outputs: one slot of each, or scratch on the CPU if nothing reads
// it. Requires: there is a sample.
std::vector<std::vector<View>> BatchMaker::reserve(Step& step, int node,
                                                   std::span<const int> samples,
                                                   const Types& types) {
  const int count = static_cast<int>(types[0].size());
  // The type of all values of an output, or null. In a branch they may be some of many.
  const auto common = [&](int k) -> const TensorType* {
    const bool is_common =
        std::ssize(samples) == step.samples.made_count() &&
        std::all_of(types.begin(), types.end(), [&](const auto& t) { return t[k] == types[0][k]; });
    return is_common ? &types[0][k] : nullptr;
  };
  size_t need = 0;
  for (int k = 0; k < count; ++k)
    for (int slot : slots_of({node, k})) {
      if (const TensorType* type = common(k)) need += step.slots.need_of_whole(slot, *type);
      else
        for (const auto& sample : types) need += step.slots.need_of(slot, sample[k]);
    }
  std::vector<std::vector<View>> views(types.size(), std::vector<View>(count));
  try {
    for (int k = 0; k < count; ++k)
      for (int slot : slots_of({node, k})) {
        step.slots.begin_whole(slot, common(k), pool_);
        for (size_t s = 0; s < types.size(); ++s)
          views[s][k] = step.slots.reserve(slot, samples[s], types[s][k], pool_);
      }
  } catch (const Starved& starved) {
    throw Starved{starved.why, need};
  }
  if (plan_.node(node).device != DeviceKind::kCpu) return views;
  for (size_t s = 0; s < types.size(); ++s)
    for (int k = 0; k < count; ++k) {
      if (plan_.slot_of({node, k}) >= 0) continue;
      View v = View::dense(nullptr, types[s][k].dtype, types[s][k].shape, types[s][k].layout);
      v.data = arena_.allocate(static_cast<size_t>(v.bytes()));
      views[s][k] = v;
    }
  return views;
}

// Tells the step of which samples each is made. Requires: infer() took the operators.
void BatchMaker::join_names(Step& step, int node, std::span<const int> samples,
                            std::span<const Operator* const> ops) const {
  for (size_t s = 0; s < ops.size(); ++s) {
    auto parts = plan_.checked(node).type->joins->samples(*ops[s], s, ops.size());
    if (!parts) continue;
    for (int& part : *parts) part = samples[static_cast<size_t>(part)];
    step.samples.joined[static_cast<size_t>(plan_.planned(node).joint)].set(samples[s],
                                                                            std::move(*parts));
  }
}

void BatchMaker::run_operator(Step& step, int stage) {
  const int node = plan_.stage(stage).nodes[0];
  const Timed timed(times_, node);
  const std::vector<int> samples = samples_of(step, node);
  if (plan_.planned(node).device_number >= 0)
    for (int i : step.samples.made()) step.on_device.task(node, i) = {};
  if (samples.empty()) return;
  const std::vector<std::shared_ptr<const Operator>> own = resolve(step, node, samples);
  std::vector<const Operator*> ops;
  for (auto& op : own) ops.push_back(op.get());
  std::vector<BatchInference::Item> items;
  for (int i : samples) items.push_back(item_of(step, node, i));
  Types types = infer(node, items, ops);
  if (plan_.planned(node).joint >= 0) join_names(step, node, samples, ops);
  const std::vector<std::vector<View>> outputs = reserve(step, node, samples, types);
  if (plan_.node(node).device == DeviceKind::kCpu) {
    std::vector<BatchItem> work;
    for (size_t s = 0; s < items.size(); ++s)
      work.push_back({std::move(items[s].values), outputs[s], items[s].chance, items[s].origin});
    BatchRun r{work, arena_};
    plan_.checked(node).type->runs_on_batch->run(ops, r);
    return deliver(step, node, samples, outputs);
  }
  for (size_t s = 0; s < items.size(); ++s) {
    DeviceTask task{std::move(items[s].inputs),
                    std::move(types[s]),
                    {},
                    {own[s]},
                    {},
                    items[s].chance,
                    items[s].origin};
    for (const View& v : items[s].values) task.values.push_back({v, nullptr});  // the step has them
    step.on_device.task(node, samples[s]) = std::move(task);
  }
}

std::shared_ptr<UserCall> call_of(const Step& step, int stage) {
  const int index = step.plan.stage(stage).nodes[0];
  const Node& node = step.plan.node(index);
  auto call = std::make_shared<UserCall>();
  std::vector<int> samples;
  try {
    samples = samples_of(step, index);
  } catch (const SampleError&) {
    call->error = std::current_exception();
  }
  if (!samples.empty()) call->function = node.function;
  call->count = static_cast<int64_t>(samples.size());
  for (const auto& in : node.inputs)
    call->inputs.push_back(in ? step.slots.host_batch(*in, samples) : HostBatch{});
  return call;
}

// The types of what the call has made. Throws SampleError if the node declares others.
BatchMaker::Types BatchMaker::types_of(int node, const UserCall& call) const {
  const std::vector<TensorType>& declared = plan_.checked(node).outputs;
  const auto expect = [](const char* what, size_t wanted, size_t got) {
    if (got != wanted)
      throw SampleError("the function returned " + std::to_string(got) + " " + what +
                        ", expected " + std::to_string(wanted));
  };
  expect("batches", declared.size(), call.outputs.size());
  Types types(static_cast<size_t>(call.count));
  for (size_t k = 0; k < declared.size(); ++k) {
    const std::vector<View>& made = call.outputs[k].samples;
    expect("samples", types.size(), made.size());
    for (size_t s = 0; s < made.size(); ++s) {
      TensorType& t = types[s].emplace_back(made[s].whole());
      if (t.layout.empty()) t.layout = declared[k].layout;
      if (t.dtype != declared[k].dtype || t.shape.rank != declared[k].shape.rank)
        throw SampleError("the function returned " + t.str() + " as output " + std::to_string(k) +
                          ", expected " + declared[k].str());
    }
  }
  return types;
}

void BatchMaker::take_results(Step& step, int stage, UserCall& call) {
  const int node = plan_.stage(stage).nodes[0];
  times_.add(node, std::exchange(call.ns, 0));
  if (call.error) std::rethrow_exception(call.error);
  if (!call.function) return;
  const std::vector<int> samples = samples_of(step, node);
  const std::vector<std::vector<View>> to = reserve(step, node, samples, types_of(node, call));
  for (size_t k = 0; k < call.outputs.size(); ++k)
    for (size_t s = 0; s < to.size(); ++s) copy_to_dense(call.outputs[k].samples[s], to[s][k].data);
  deliver(step, node, samples, to);
  call.outputs.clear();
}

}  // namespace stoker
