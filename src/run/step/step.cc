// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/step/step.h"

#include "run/step/variants.h"

namespace stoker {

Step::Step(const Plan& p, int64_t n, std::vector<int64_t> at,
           const std::shared_ptr<const FedStep>& fed, const ExecutorOptions& options)
    : plan(p),
      number(n),
      cursors(std::move(at)),
      samples(plan, cursors, fed, options),
      on_device(plan, samples.size()),
      slots(plan, fed, samples.size(), options) {}

bool Step::has(const Ref& value, int i) const {
  const PlanNode& p = plan.planned(value.node);
  // A picture that is only the other side of a merge is not made either.
  if (p.mixed_number >= 0) return on_device.picture(value.node, i).type.shape.rank > 0;
  if (plan.node(value.node).guards.empty()) return true;
  if (p.device_number >= 0) return on_device.task(value.node, i).is_there();
  return slots.view(plan.host_slot(value), i).data;
}

std::vector<int> Step::samples_with(const Ref& value) const {
  std::vector<int> list = samples.made();
  std::erase_if(list, [&](int i) { return !has(value, i); });
  return list;
}

TensorType Step::type_of(const Ref& value, int i) const {
  return plan.ends_on_device(value) ? on_device.type_of(value, i)
                                    : slots.host_view(value, i).whole();
}

void Step::forget(int i, int stage) {
  slots.forget(i, stage);
  on_device.forget(i, stage);
}

void Step::rewind() {
  on_device.values.clear();
  slots.drop_batches();
  std::fill(samples.is_made.begin(), samples.is_made.end(), 0);
  for (int i = 0; i < samples.size(); ++i)
    for (int stage = 0; stage < plan.stage_count(); ++stage) forget(i, stage);
}

Outputs Step::publish(const std::shared_ptr<const Plan>& owner, HostPool& pool) {
  Outputs out;
  out.next = plan.cursors_after(cursors, 1);
  out.ends_epoch = plan.order(plan.lead()).ends_epoch(cursors[plan.lead()]);
  if (!samples.is_lost()) {
    if (std::optional<SampleFailure> failure = find_meeting(*this)) {
      samples.failures.push_back(std::move(*failure));
      samples.lose();
    }
  }
  samples.hand_out(out);
  if (out.is_lost) return out;
  slots.take_over_fed(pool);
  slots.collect(samples, plan.stage_count());
  for (size_t n = 0; n < plan.graph().outputs.size(); ++n) {
    const int k = plan.slot_of_output(n);
    out.batches.push_back(k < 0 ? Batch{} : slots.batch(k));
    out.batches.back().provenance = samples.provenance(owner, plan.named_by(n));
    if (plan.named_by(n) != plan.graph().outputs[n].node)
      for (Sample& s : out.batches.back().samples)
        s.index = samples.origin(plan.named_by(n), static_cast<int>(s.in_batch)).index;
  }
  return out;
}

std::string step_in_words(const Plan& plan, const std::vector<int64_t>& cursors) {
  const io::SampleRef first = plan.sample_at(plan.lead(), cursors[plan.lead()], 0);
  return "epoch " + std::to_string(first.epoch) + ", step from position " +
         std::to_string(first.position) + " on";
}

}  // namespace stoker
