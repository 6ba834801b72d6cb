// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/step/samples.h"

#include <map>

#include "base/hash.h"

namespace stoker {

namespace {

constexpr int kReplacements = 16;  // the most for one sample

// A replacement depends only on the order's key and the position, so it is the same for any number
// of shards, workers or batches.
int64_t index_of(const io::OrderSpec& spec, const io::SampleRef& place, int attempt) {
  if (attempt == 0) return place.index;
  const uint64_t h = mix(spec.key, static_cast<uint64_t>(place.epoch),
                         static_cast<uint64_t>(place.position), static_cast<uint64_t>(attempt));
  return static_cast<int64_t>(h % static_cast<uint64_t>(spec.size));
}

}  // namespace

Samples::Samples(const Plan& plan, const std::vector<int64_t>& cursors,
                 std::shared_ptr<const FedStep> fed, const ExecutorOptions& options)
    : is_made(fed ? fed->size : plan.batch_size()),
      attempts(is_made.size()),
      max_attempts(options.settings.error_policy().replaces_samples() && plan.reader_count()
                       ? 1 + kReplacements
                       : 1),
      origins(is_made.size()),
      annotated(is_made.size(), std::vector<Annotated>(plan.reader_count())),
      remarks(is_made.size()),
      plan_(plan),
      cursors_(cursors),
      fed_(std::move(fed)),
      error_policy_(options.settings.error_policy()) {
  for (const Plan::Joint& j : plan.joints()) joined.emplace_back(*this, j.of_inputs);
}

void Samples::find_origins(int i) {
  const io::SampleRef lead = plan_.sample_at(plan_.lead(), cursors_[plan_.lead()], i);
  std::vector<Origin>& list = origins[i];
  list.assign(plan_.source_count(), {{lead.epoch, lead.position, 0}, nullptr, lead.index});
  for (int r = 0; r < plan_.reader_count(); ++r) {
    list[r].provenance = &plan_.store(r);
    list[r].index =
        index_of(plan_.order(r).spec(), plan_.sample_at(r, cursors_[r], i), attempts[i]);
  }
  for (int k = 0; k < plan_.input_count(); ++k) {
    Origin& origin = list[plan_.reader_count() + k];
    if (const Provenance* names = fed_->batches[k]->names.get()) {
      origin.provenance = names;
      origin.index = i;
    } else if (plan_.reader_count()) {
      origin = list[plan_.lead()];
    }
  }
  for (size_t j = 0; j < joined.size(); ++j) {
    Origin& origin = list[plan_.source_of_joint(static_cast<int>(j))];
    origin = list[plan_.joints()[j].first];
    origin.provenance = &joined[j];
    origin.index = i;
  }
}

const Origin& Samples::lead(int i) const {
  if (plan_.reader_count()) return origins[i][plan_.lead()];
  for (int k = 0; k < plan_.input_count(); ++k)
    if (origins[i][k].provenance) return origins[i][k];
  return origins[i][plan_.source_of_nothing()];
}

std::shared_ptr<const Provenance> Samples::provenance(const std::shared_ptr<const Plan>& owner,
                                                      int node) const {
  const int source = plan_.source_of(node), input = source - plan_.reader_count();
  if (source > plan_.source_of_nothing()) return joined[source - plan_.source_of_joint(0)].kept();
  if (input >= 0 && input < plan_.input_count() && fed_->batches[input]->names)
    return fed_->batches[input]->names;
  return {owner, origin(node, made().front()).provenance};
}

std::vector<int> Samples::made() const {
  std::vector<int> list;
  for (int i = 0; i < size(); ++i)
    if (is_made[i]) list.push_back(i);
  return list;
}

bool Samples::is_to_rewind() const {
  for (int i = 0; i < size(); ++i)
    if (!is_made[i] && attempts[i] < max_attempts) return true;
  return false;
}

bool Samples::is_lost() const {
  const int64_t made = made_count();
  return made == 0 || (!error_policy_.leaves_samples_out() && made < size());
}

int Samples::stage_after(int stage) const {
  const int next = stage + 1;
  const bool sees_batch =
      next < plan_.stage_count() &&
      (plan_.stage(next).kind == StageKind::kBatch || plan_.stage(next).kind == StageKind::kPython);
  return made_count() == 0 || (sees_batch && is_lost()) ? plan_.stage_count() : next;
}

void Samples::lose() {
  std::fill(is_made.begin(), is_made.end(), 0);
  std::fill(attempts.begin(), attempts.end(), max_attempts);
}

void Samples::hand_out(Outputs& outputs) {
  outputs.size = size();
  outputs.missing = size() - made_count();
  outputs.is_lost = is_lost();
  // A sample's own failures, of replacements, stay in their order.
  std::multimap<int, SampleFailure> of_samples;
  for (SampleFailure& f : failures) of_samples.emplace(f.in_batch, std::move(f));
  for (auto& [sample, f] : of_samples) outputs.failures.push_back(std::move(f));
  for (auto& of_sample : remarks)
    for (SampleRemark& r : of_sample) outputs.remarks.push_back(std::move(r));
}

}  // namespace stoker
