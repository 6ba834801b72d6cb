// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/step/batch_maker.h"

#include "kernels/strided_copy.h"

namespace stoker {

// The operator for each sample: the plan's own, or copies that hold the computed arguments.
BatchMaker::Operators BatchMaker::resolve(const Step& step, int node,
                                          std::span<const int> samples) const {
  const CheckedNode& checked = plan_.checked(node);
  const auto& links = plan_.node(node).links;
  Operators ops(samples.size(), {std::shared_ptr<void>(), checked.op.get()});  // the plan owns it
  for (size_t s = 0; s < samples.size() && !links.empty(); ++s) {
    std::shared_ptr<Operator> copy = checked.op->clone();
    for (size_t k = 0; k < links.size(); ++k)
      copy->set(checked.link_arguments[k], step.host_view(links[k].from, samples[s]));
    ops[s] = std::move(copy);
  }
  return ops;
}

BatchInference::Item BatchMaker::item_of(const Step& step, int node, int i) const {
  const Origin& origin = step.origin(node, i);
  const Identity& who = origin.who;
  BatchInference::Item item{
      .chance = Chance(seed_, plan_.checked(node).key, who.epoch, who.position, who.child),
      .origin = origin};
  for (size_t k = 0; k < plan_.node(node).inputs.size(); ++k) {
    const auto& in = plan_.node(node).inputs[k];
    TensorType& type = item.inputs.emplace_back();
    View& value = item.values.emplace_back();
    if (!in) continue;
    const Port& port = plan_.checked(node).type->input(k);
    if (plan_.node(node).device == DeviceKind::kCpu || port.is_value)
      value = step.host_view(*in, i);
    type = value.data ? value.whole() : step.type_of(*in, i);
    if (type.layout.empty() && *port.layouts) type.layout = default_layout(port, type.shape.rank);
    value.layout = type.layout;
  }
  return item;
}

void BatchMaker::check_types(int node, std::span<const BatchInference::Item> items) const {
  for (const BatchInference::Item& item : items) {
    if (item.outputs.size() != plan_.checked(node).outputs.size())
      throw Error(plan_.node(node).op + ": infer_batch() gave a wrong number of outputs");
    for (const TensorType& t : item.outputs)
      if (!t.shape.is_possible())
        throw SampleError("the output would be " + t.str() + ", more than 2^40 elements");
  }
}

void BatchMaker::run(Step& step, int stage) {
  const int node = plan_.stage(stage).nodes[0];
  const Timed timed(times_, node);
  const RunsOnBatch& facet = *plan_.checked(node).type->runs_on_batch;
  const std::vector<int> samples = step.made_samples();
  Operators ops = resolve(step, node, samples);
  std::vector<const Operator*> views;
  for (auto& op : ops) views.push_back(op.get());
  std::vector<BatchInference::Item> items;
  for (int i : samples) items.push_back(item_of(step, node, i));
  BatchInference inference{items};
  facet.infer(views, inference);
  check_types(node, items);
  if (plan_.node(node).device == DeviceKind::kCpu)
    return run_on_host(step, node, samples, items, views);
  for (size_t s = 0; s < samples.size(); ++s) {
    const int i = samples[s];
    BatchInference::Item& item = items[s];
    for (size_t k = 0; k < item.outputs.size(); ++k)
      if (const Ref value{node, static_cast<int>(k)}; plan_.has_host_copy(value))
        reserve(step, value, i, item.outputs[k]);
    DeviceTask task{std::move(item.inputs), std::move(item.outputs), {}, {ops[s]}, {},
                    item.chance,            item.origin};
    for (View& v : item.values) task.values.push_back({v, nullptr});  // the step keeps them
    step.device_task[i][plan_.planned(node).device_number] = std::move(task);
  }
}

void BatchMaker::run_on_host(Step& step, int node, std::span<const int> samples,
                             std::span<const BatchInference::Item> items,
                             std::span<const Operator* const> ops) {
  std::vector<BatchItem> work;
  for (size_t s = 0; s < samples.size(); ++s) {
    BatchItem& to = work.emplace_back(BatchItem{items[s].values, {}, items[s].chance,
                                                items[s].origin});
    for (size_t k = 0; k < items[s].outputs.size(); ++k)
      to.outputs.push_back(
          reserve(step, {node, static_cast<int>(k)}, samples[s], items[s].outputs[k]));
  }
  BatchRun r{work, arena_};
  plan_.checked(node).type->runs_on_batch->run(ops, r);
}

// Gives the memory of a value: in its slot, or scratch where nothing reads it.
View BatchMaker::reserve(Step& step, const Ref& value, int i, const TensorType& type) {
  const bool is_on_host = plan_.node(value.node).device == DeviceKind::kCpu;
  const int slot = is_on_host ? plan_.slot_of(value) : plan_.host_copy(value);
  if (slot >= 0) return step.reserve(slot, i, type, pool_);
  void* const data = arena_.allocate(static_cast<size_t>(type.shape.volume() * size_of(type.dtype)));
  return View::dense(data, type.dtype, type.shape, type.layout);
}

std::shared_ptr<UserCall> BatchMaker::call_of(const Step& step, int stage) const {
  const Node& node = plan_.node(plan_.stage(stage).nodes[0]);
  auto call = std::make_shared<UserCall>();
  call->function = node.function;
  call->count = step.made_count();
  for (const auto& in : node.inputs)
    call->inputs.push_back(in ? step.host_batch(*in) : HostBatch{});
  return call;
}

void BatchMaker::take_results(Step& step, int stage, UserCall& call) {
  const int node = plan_.stage(stage).nodes[0];
  times_.add(node, std::exchange(call.ns, 0));
  if (call.error) std::rethrow_exception(call.error);
  const std::vector<TensorType>& declared = plan_.checked(node).outputs;
  const std::vector<int> samples = step.made_samples();
  const auto expect = [](bool holds, const std::string& what, size_t wanted, size_t got) {
    if (holds) return;
    throw SampleError("the function returned " + std::to_string(got) + " " + what + ", expected " +
                      std::to_string(wanted));
  };
  expect(call.outputs.size() == declared.size(), "batches", declared.size(), call.outputs.size());
  for (size_t k = 0; k < declared.size(); ++k) {
    const std::vector<View>& made = call.outputs[k].samples;
    expect(made.size() == samples.size(), "samples", samples.size(), made.size());
    for (size_t s = 0; s < made.size(); ++s) {
      TensorType type = made[s].whole();
      if (type.layout.empty()) type.layout = declared[k].layout;
      if (type.dtype != declared[k].dtype || type.shape.rank != declared[k].shape.rank)
        throw SampleError("the function returned " + type.str() + " as output " +
                          std::to_string(k) + ", declared is " + declared[k].str());
      copy_to_dense(made[s], reserve(step, {node, static_cast<int>(k)}, samples[s], type).data);
    }
  }
  call.outputs.clear();
}

}  // namespace stoker
