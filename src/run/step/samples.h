// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What became of the samples of a step. Whoever has a ticket uses what is said of its samples.
// Functions that look at all samples are for whoever has the ticket of all, or for when nobody has
// one. The executor guards `failures`.
#pragma once
#include <algorithm>

#include "run/executor_options.h"
#include "run/feed/feed.h"
#include "run/step/joined_names.h"
#include "run/step/outputs.h"

namespace stoker {

class Samples {
 public:
  // As Step's. Requires: `cursors` outlive this.
  Samples(const Plan& plan, const std::vector<int64_t>& cursors, std::shared_ptr<const FedStep> fed,
          const ExecutorOptions& options);
  Samples(const Samples&) = delete;  // what is joined refers to it
  Samples& operator=(const Samples&) = delete;

  std::vector<char> is_made;  // by sample
  std::vector<int> attempts;  // by sample: how many attempts failed
  const int max_attempts;
  std::vector<std::vector<Origin>> origins;  // by sample, by source of the plan
  std::vector<std::vector<Annotated>> annotated;  // by sample, by reader
  std::vector<std::vector<SampleRemark>> remarks;  // by sample
  std::vector<JoinedNames> joined;  // by Plan::joints()
  std::vector<SampleFailure> failures;

  // Finds where sample i comes from, or its replacement after so many failures.
  void find_origins(int i);
  const Origin& origin(int node, int i) const { return origins[i][plan_.source_of(node)]; }
  // Where the whole sample comes from: the lead reader, or else the first input that has a name.
  const Origin& lead(int i) const;
  // For the batch that a node gives. It keeps the plan, or the names that were fed.
  std::shared_ptr<const Provenance> provenance(const std::shared_ptr<const Plan>& owner,
                                               int node) const;

  int64_t size() const { return static_cast<int64_t>(is_made.size()); }
  int64_t made_count() const { return std::count(is_made.begin(), is_made.end(), 1); }
  std::vector<int> made() const;  // the numbers of the samples that are made
  // Whether a sample that failed in a later stage has to be replaced: see Step::rewind.
  bool is_to_rewind() const;
  // Whether the step hands out nothing: all are missing, or one that on_error does not leave out.
  bool is_lost() const;
  // The stage that follows this one, or stage_count() if nothing is left to do: no stage sees the
  // batch of a lost step.
  int stage_after(int stage) const;
  // Loses all of them, because a stage that sees all of them failed.
  void lose();
  // Moves what is said of them to where the user gets it, with failures in the order of samples.
  void hand_out(Outputs& outputs);

 private:
  const Plan& plan_;
  const std::vector<int64_t>& cursors_;
  const std::shared_ptr<const FedStep> fed_;
  const ErrorPolicy error_policy_;
};

}  // namespace stoker
