// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Gives what the user feeds.
#include "op/op.h"

namespace stoker::ops::read {

struct ExternalSource {
  std::optional<DType> dtype;
  std::optional<int> ndim;
  Layout layout;
  bool repeat_last = false, blocking = false, no_copy = false;

  static constexpr bool kInput = true;
  static constexpr std::array kIgnored = {"cuda_stream", "use_copy_kernel"};
  static constexpr const char* kSkip =
      "is fed by the user; tests/pipelines/test_external_source.py tests it";
  static constexpr auto schema = describe(
      "external_source",
      "Gives what the user feeds.\n\n"
      "A step's batch comes from a Python source (a callable, an iterable, a generator function) "
      "or "
      "from feed_input() by the name of this operator. Batches may differ in size, up to "
      "batch_size; all inputs of one step have as many samples, and exactly batch_size beside a "
      "reader. Samples may differ in shape, not in dtype, number of axes and layout: these are "
      "declared, or else those of the first batch.",
      ports(), ports({.name = "output", .help = "What was fed."}),
      arg(&ExternalSource::dtype, "dtype",
          "Dtype of what is fed; default: that of the first batch."),
      arg(&ExternalSource::ndim, "ndim",
          "Number of axes of a sample; default: that of the layout, or of the first batch.",
          between(0, kMaxRank)),
      arg(&ExternalSource::layout, "layout", "Layout of a sample, one letter per axis."),
      arg(&ExternalSource::repeat_last, "repeat_last",
          "Where nothing was fed for a step, feed the last batch again. A step that repeats is "
          "begun when run() asks for it, not before."),
      arg(&ExternalSource::blocking, "blocking",
          "Where nothing was fed and there is no source, wait until another thread feeds; "
          "otherwise run() raises."),
      arg(&ExternalSource::no_copy, "no_copy",
          "Use the memory that is fed as it is, where it is dense; it must not change until the "
          "step was received."));

  void check(Checker& c) const {
    const std::optional<int> rank = !ndim && !layout.empty() ? layout.rank() : ndim;
    if (!dtype || !rank)
      throw GraphError(
          "its type is not known: declare dtype and ndim (or layout), or feed a batch first");
    if (!layout.empty() && layout.rank() != *rank)
      throw GraphError("argument 'layout' is '" + std::string(layout.str()) + "', ndim is " +
                       std::to_string(*rank));
    c.out({*dtype, layout, Shape::filled(*rank, -1)});
  }
};

}  // namespace stoker::ops::read

STOKER_OPERATOR(stoker::ops::read::ExternalSource)
