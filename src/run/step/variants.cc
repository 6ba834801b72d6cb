// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/step/variants.h"

#include "op/meeting.h"

namespace stoker {

namespace {

using Variants = std::vector<Plan::PlanVariant>;

// The merge at which the ways to two variants part.
const Fork& fork_between(const Plan::PlanVariant& a, const Plan::PlanVariant& b) {
  size_t k = 0;
  while (a.sides[k].when == b.sides[k].when) ++k;
  return *a.sides[k].fork;
}

// The merge whose sides have made the samples of an output differ, or null.
const Fork* find_fork(const Step& step, const Variants& variants) {
  const std::vector<int> made = step.samples.made();
  struct First {
    const Plan::PlanVariant* variant;
    TensorType type;
  };
  std::vector<First> seen;  // the first sample of each variant
  for (const Plan::PlanVariant& v : variants) {
    const Ref& value = step.plan.graph().outputs[v.output];
    const auto i = std::ranges::find_if(made, [&](int k) { return step.has(value, k); });
    if (i == made.end()) continue;
    const TensorType type = step.type_of(value, *i);
    for (const First& other : seen)
      if (!may_meet(other.type, type)) return &fork_between(*other.variant, v);
    seen.push_back({&v, type});
  }
  return nullptr;
}

// All samples of both, in their order.
Batch joined(Batch a, Batch b) {
  for (Sample& s : b.samples) a.samples.push_back(std::move(s));
  std::ranges::sort(a.samples, {}, &Sample::in_batch);
  if (a.layout.empty()) a.layout = b.layout;
  for (Sample& s : a.samples) s.view.layout = a.layout;
  a.whole.reset();
  return a;
}

}  // namespace

std::optional<SampleFailure> find_meeting(const Step& step) {
  for (const Variants& variants : step.plan.variants()) {
    if (variants.size() == 1) continue;
    const Fork* fork = find_fork(step, variants);
    if (!fork) continue;
    SampleFailure f;
    f.op = fork->merge.op;
    f.instance = fork->merge.name;
    f.where = fork->merge.where;
    f.message = meeting_in_words(step.plan.graph(), *fork);
    f.in_batch = -1;
    f.who = step.samples.origin(fork->condition.node, step.samples.made().front()).who;
    return f;
  }
  return std::nullopt;
}

void join_variants(const Plan& plan, Outputs& outputs) {
  if (outputs.is_lost) return;
  std::vector<Batch> given;
  for (const Variants& variants : plan.variants()) {
    std::optional<Batch> one;
    for (const Plan::PlanVariant& v : variants) {
      Batch& b = outputs.batches[v.output];
      if (variants.size() > 1 && b.samples.empty()) continue;
      one = one ? joined(std::move(*one), std::move(b)) : std::move(b);
    }
    given.push_back(std::move(one).value());
  }
  outputs.batches = std::move(given);
}

}  // namespace stoker
