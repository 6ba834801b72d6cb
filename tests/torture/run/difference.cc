// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Note [What may differ]
// - A budget that does not suffice in one way may suffice in another. What was made until then is
//   compared.
// - What a sample needs depends on how its graph was rewritten. So a sample that is too large may
//   be made where operators are fused, where less is demanded, or on a device.
// - Lowered operators may differ in the last place on a device, so only types are compared with it.
// - Which operator fails first, and which samples an operator sees that sees whole batches, depends
//   on the stages, so on what runs on a device.
// - All NaN are alike: the instruction decides which one it is.
#include <cmath>
#include <cstring>

#include "base/half.h"
#include "io/order/order.h"
#include "op/value.h"
#include "record.h"

namespace stoker::torture {

namespace {

bool is_nan(const MadeValue& v, int64_t i) {
  const View view = View::dense(const_cast<char*>(v.bytes.data()), v.type.dtype, v.type.shape);
  return info(v.type.dtype).is_float && std::isnan(element(view, i));
}

std::string value_difference(const MadeValue& judge, const MadeValue& other, bool only_types) {
  if (!(judge.type == other.type)) return other.type.str() + " instead of " + judge.type.str();
  if (only_types || judge.bytes == other.bytes) return "";
  const auto size = static_cast<size_t>(size_of(judge.type.dtype));
  for (size_t i = 0; i < judge.bytes.size() / size; ++i) {
    if (std::memcmp(&judge.bytes[i * size], &other.bytes[i * size], size) == 0) continue;
    const auto at = static_cast<int64_t>(i);
    if (is_nan(judge, at) && is_nan(other, at)) continue;
    const auto number = [&](const MadeValue& v) {
      return to_string(Value(
          element(View::dense(const_cast<char*>(v.bytes.data()), v.type.dtype, v.type.shape), at)));
    };
    return "element " + std::to_string(i) + " of " + judge.type.str() + " is " + number(other) +
           " instead of " + number(judge);
  }
  return "";
}

bool is_too_large(const SlotRecord& slot) {
  return std::any_of(slot.failures.begin(), slot.failures.end(), [](const SampleFailure& f) {
    return f.message.find("three eighths of memory_limit") != std::string::npos ||
           f.message.find("what comes out of the sample needs") != std::string::npos;
  });
}

std::string failure_difference(const std::vector<SampleFailure>& judge,
                               const std::vector<SampleFailure>& other) {
  const auto words = [](const std::vector<SampleFailure>& all, size_t i) {
    return i < all.size() ? all[i].instance + ": " + all[i].message : "none";
  };
  for (size_t i = 0; i < std::max(judge.size(), other.size()); ++i)
    if (words(judge, i) != words(other, i))
      return "failure " + std::to_string(i) + ": " + words(other, i) + " instead of " +
             words(judge, i);
  return "";
}

// How the orders of all readers deal their samples to all shards and to one of them.
class Dealt {
 public:
  Dealt(const Record& all, const Record& one) {
    for (const io::OrderSpec& spec : all.orders) all_.emplace_back(spec);
    for (const io::OrderSpec& spec : one.orders) one_.emplace_back(spec);
  }

  // By reader, the place of sample i of the shard's step in the step of all shards; behind its end
  // where it is not there.
  std::vector<size_t> places(int64_t step, int64_t i) const {
    std::vector<size_t> places;
    for (size_t r = 0; r < all_.size(); ++r) {
      const io::SampleRef wanted = one_[r].at(one_[r].after(0, step), i);
      const io::Order& order = all_[r];
      int64_t k = 0;
      while (k < order.spec().batch_size && order.at(order.after(0, step), k) != wanted) ++k;
      places.push_back(static_cast<size_t>(k));
    }
    return places;
  }

 private:
  std::vector<io::Order> all_, one_;
};

class Comparison {
 public:
  Comparison(const Trial& trial, const Record& judge, const Record& other, const Way& way)
      : judge_(judge), other_(other), way_(way) {
    only_types_ = way.on_cpu && std::any_of(trial.nodes.begin(), trial.nodes.end(), [](auto& n) {
                    return n.device == DeviceKind::kGpu &&
                           operator_named(n.op).kind() == OperatorKind::kLower;
                  });
    batch_ = trial.common.batch;
    sees_batch_ = trial.may_see_batch();
    is_fed_ = !trial.feeds.empty();
  }

  std::string run() const {
    if (way_.batch > 0 && way_.batch != batch_) return streams();
    if (way_.shards > 1) return shards();
    return steps();
  }

 private:
  std::string steps() const {
    const size_t count = std::min(judge_.steps.size(), other_.steps.size());
    for (size_t s = 0; s < count; ++s)
      if (const std::string d = step(judge_.steps[s], other_.steps[s]); !d.empty())
        return "step " + std::to_string(s) + ": " + d;
    if (judge_.lacks_memory || other_.lacks_memory) return "";
    if (judge_.steps.size() != other_.steps.size() || judge_.error != other_.error)
      return ended(other_) + " instead of " + ended(judge_);
    if (judge_.state != other_.state)
      return "the state is " + other_.state + " instead of " + judge_.state;
    return "";
  }

  static std::string ended(const Record& r) {
    return std::to_string(r.steps.size()) + " steps and " +
           (r.error.empty() ? "no error" : "'" + r.error + "'");
  }

  std::string step(const StepRecord& j, const StepRecord& o) const {
    if (j.is_end != o.is_end) return o.is_end ? "an epoch ends too early" : "an epoch goes on";
    if (j.slots.size() != o.slots.size())
      return std::to_string(o.slots.size()) + " samples instead of " +
             std::to_string(j.slots.size());
    bool forgiven = false;
    for (size_t i = 0; i < j.slots.size(); ++i) forgiven |= is_forgiven(j.slots[i], o.slots[i]);
    if (sees_batch_ && (forgiven || (way_.on_cpu && (has_failures(j) || has_failures(o)))))
      return "";
    if (const std::string d = failure_difference(j.failures, o.failures); !d.empty())
      return "the batch: " + d;
    for (size_t i = 0; i < j.slots.size(); ++i) {
      if (const std::string d = slot(j, i, o, i); !d.empty()) return d;
    }
    if (j.is_lost != o.is_lost && !forgiven)
      return o.is_lost ? "the step is lost" : "the step is not lost";
    if (j.is_lost == o.is_lost && j.ends_epoch != o.ends_epoch)
      return o.ends_epoch ? "it ends an epoch" : "it ends no epoch";
    return "";
  }

  static bool has_failures(const StepRecord& s) {
    return std::any_of(s.slots.begin(), s.slots.end(),
                       [](const SlotRecord& slot) { return !slot.failures.empty(); });
  }

  // Note [What may differ].
  bool is_forgiven(const SlotRecord& j, const SlotRecord& o) const {
    return (way_.fuse || way_.demand || way_.on_cpu) && (is_too_large(j) || is_too_large(o));
  }

  std::string slot(const StepRecord& in_judge, size_t i, const StepRecord& in_other,
                   size_t k) const {
    const SlotRecord &j = in_judge.slots[i], &o = in_other.slots[k];
    if (is_forgiven(j, o)) return "";
    const std::string here = "sample " + std::to_string(i) + ": ";
    const auto has_failed = [](const StepRecord& step, const SlotRecord& slot) {
      return !step.failures.empty() || !slot.failures.empty();
    };
    if (way_.on_cpu && has_failed(in_judge, j) && has_failed(in_other, o)) return "";
    if (const std::string d = failure_difference(j.failures, o.failures); !d.empty())
      return here + d;
    if (in_judge.is_lost || in_other.is_lost) return "";
    if (j.is_made != o.is_made) return here + (o.is_made ? "is made" : "is missing");
    if (!j.is_made) return "";
    if (j.index != o.index)
      return here + "index " + std::to_string(o.index) + " instead of " + std::to_string(j.index);
    for (size_t v = 0; v < j.values.size(); ++v)
      if (const std::string d = value_difference(j.values[v], o.values[v], only_types_); !d.empty())
        return here + "output " + std::to_string(v) + ": " + d;
    return "";
  }

  // Another batch size cuts the same stream of samples into other steps.
  std::string streams() const {
    if (!judge_.deals || !judge_.has_all) return "";
    const auto places = [](const Record& r) {
      std::vector<std::pair<const StepRecord*, size_t>> all;
      for (const StepRecord& s : r.steps)
        for (size_t i = 0; i < s.slots.size(); ++i) all.emplace_back(&s, i);
      return all;
    };
    const auto j = places(judge_), o = places(other_);
    for (size_t i = 0; i < std::min(j.size(), o.size()); ++i)
      if (const std::string d = slot(*j[i].first, j[i].second, *o[i].first, o[i].second);
          !d.empty())
        return "sample " + std::to_string(i) + " of the stream, " + d;
    return "";
  }

  std::string shards() const {
    if (!judge_.deals || !judge_.has_all || !other_.deals) return "";
    const Dealt dealt(judge_, other_);
    int64_t number = 0;  // of steps that readers make
    for (size_t s = 0; s < std::min(judge_.steps.size(), other_.steps.size()); ++s) {
      const StepRecord &j = judge_.steps[s], &o = other_.steps[s];
      if (j.is_end != o.is_end) return "step " + std::to_string(s) + ": an epoch's end differs";
      for (size_t i = 0; i < o.slots.size(); ++i)
        if (const std::optional<size_t> place = place_in_all(dealt, number, i)) {
          const std::string d = *place < j.slots.size() ? slot(j, *place, o, i)
                                                        : "a sample that no shard should have";
          if (!d.empty()) return "step " + std::to_string(s) + ", " + d;
        }
      if (!o.is_end) ++number;
    }
    return "";
  }

  // Where the judge has sample i of the shard. Nowhere if an epoch ends within the step of one
  // reader only, as its samples then meet others on a shard, or fed ones.
  std::optional<size_t> place_in_all(const Dealt& dealt, int64_t step, size_t i) const {
    const auto fed = static_cast<size_t>(batch_ / way_.shards * way_.shard) + i;
    const std::vector<size_t> places = dealt.places(step, static_cast<int64_t>(i));
    const size_t place = is_fed_ || places.empty() ? fed : places[0];
    const bool agree =
        std::all_of(places.begin(), places.end(), [&](size_t p) { return p == place; });
    return agree ? std::optional(place) : std::nullopt;
  }

  const Record &judge_, &other_;
  const Way& way_;
  bool only_types_ = false, sees_batch_ = false, is_fed_ = false;
  int64_t batch_ = 1;
};

}  // namespace

std::string difference(const Trial& trial, const Record& judge, const Record& other,
                       const Way& way) {
  return Comparison(trial, judge, other, way).run();
}

}  // namespace stoker::torture
