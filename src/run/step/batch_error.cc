// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/step/batch_error.h"

namespace stoker {

namespace {

std::string what_failed(const SampleFailure& f) {
  std::string s = f.source.empty() ? "" : " from '" + f.source + "'";
  if (f.offset >= 0) s += " at byte " + std::to_string(f.offset);
  s += ": " + f.op + " '" + f.instance + "'" + (f.where.empty() ? "" : " (" + f.where + ")");
  return s + ": " + f.message;
}

// The first failures, one in a line.
template <class Words>
std::string lines(const std::vector<SampleFailure>& failures, const Words& words) {
  constexpr size_t kShown = 6;
  std::string s;
  for (const SampleFailure& f : std::span(failures).first(std::min(failures.size(), kShown)))
    s += words(f);
  if (failures.size() > kShown)
    s += "\n  and " + std::to_string(failures.size() - kShown) + " more: .samples lists all";
  return s;
}

std::string missing_in_words(int64_t missing, int64_t of) {
  return std::to_string(missing) + " of " + std::to_string(of) + " samples could not be made";
}

std::string describe(const std::vector<SampleFailure>& failures, int64_t missing,
                     int64_t batch_size, ErrorPolicy policy) {
  std::string s = missing_in_words(missing, batch_size);
  const auto tries = static_cast<int64_t>(failures.size());
  s += tries > missing ? ", after " + std::to_string(tries) + " failures:" : ":";
  s += lines(failures, [](const SampleFailure& f) { return in_words(f); });
  if (policy.leaves_samples_out())
    s += "\nWith on_error='skip' a batch needs one good sample. The next run() goes on behind this "
         "batch; on_error='drop' leaves such batches out, on_error='replace' keeps batches full";
  if (!policy.continues())
    s += "\nThe next run() goes on behind this batch; on_error='skip', a setting of the pipeline, "
         "leaves such samples out";
  return s;
}

// A sample that is alone has no number.
std::string describe_call(const std::vector<SampleFailure>& failures, int64_t missing,
                          int64_t count) {
  if (count == 1 && failures.size() == 1) return "the sample" + what_failed(failures[0]);
  return missing_in_words(missing, count) + ":" + lines(failures, [](const SampleFailure& f) {
           const bool is_batch = f.in_batch < 0;
           return (is_batch ? "\n  the batch" : "\n  sample " + std::to_string(f.in_batch)) +
                  what_failed(f);
         });
}

}  // namespace

std::string in_words(const SampleFailure& f) {
  const bool is_batch = f.in_batch < 0;
  const std::string s = is_batch ? "\n  the batch (epoch " + std::to_string(f.who.epoch) +
                                       ", from position " + std::to_string(f.who.position) + " on)"
                                 : "\n  sample " + std::to_string(f.in_batch) + " (epoch " +
                                       std::to_string(f.who.epoch) + ", position " +
                                       std::to_string(f.who.position) + ")";
  return s + what_failed(f);
}

BatchError::BatchError(std::vector<SampleFailure> samples, int64_t missing, int64_t batch_size,
                       ErrorPolicy policy)
    : SampleError(describe(samples, missing, batch_size, policy)), samples(std::move(samples)) {}

BatchError::BatchError(std::vector<SampleFailure> samples, int64_t missing, int64_t count)
    : SampleError(describe_call(samples, missing, count)), samples(std::move(samples)) {}

}  // namespace stoker
