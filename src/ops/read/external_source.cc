// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/type_of.h"

namespace stoker::ops::read {

struct ExternalSource {
  std::optional<DType> dtype;
  std::optional<int> ndim;
  Layout layout;
  bool repeat_last = false, blocking = false, no_copy = false;

  static constexpr bool kInput = true;
  static constexpr std::array kIgnored = {"cuda_stream", "use_copy_kernel"};
  static constexpr const char* kSkip =
      "is fed by the user; tests/feeds/test_external_source.py tests it";
  static constexpr auto schema = describe(
      "external_source",
      "Gives what the user feeds.\n\n"
      "The batch of a step comes from a Python source (a callable, an iterable or a generator "
      "function), or from feed_input() with the name of this operator. Batches may differ in size, "
      "up to batch_size. All inputs of one step have equally many samples; beside a reader, "
      "exactly batch_size. Samples may differ in shape, but not in dtype, number of axes or "
      "layout: these are declared or taken from the first batch.",
      ports(), ports({.name = "output", .help = "The batch that was fed."}),
      arg(&ExternalSource::dtype, "dtype",
          "Dtype of what is fed; default: that of the first batch."),
      arg(&ExternalSource::ndim, "ndim",
          "Number of axes of a sample; default: that of the layout, or of the first batch.",
          between(0, kMaxRank)),
      arg(&ExternalSource::layout, "layout", "Layout of a sample, one letter per axis."),
      arg(&ExternalSource::repeat_last, "repeat_last",
          "Where nothing was fed for a step, feed the last batch again. Such a step begins only "
          "when run() asks for it."),
      arg(&ExternalSource::blocking, "blocking",
          "Where nothing was fed and there is no source, wait until another thread feeds a batch. "
          "With False, run() raises."),
      arg(&ExternalSource::no_copy, "no_copy",
          "Use the memory that is fed without copying it, where it is dense. It must not change "
          "until the step was received."));

  void check(Checker& c) const {
    const std::optional<int> rank = !ndim && !layout.empty() ? layout.rank() : ndim;
    require(dtype && rank,
            "its type is not known: declare dtype and ndim (or layout), or feed a batch first");
    require(layout.empty() || layout.rank() == *rank, "argument 'layout' is ", layout, ", ndim is ",
            *rank);
    c.out({*dtype, layout, Shape::filled(*rank, -1)});
  }
};

}  // namespace stoker::ops::read

STOKER_OPERATOR(stoker::ops::read::ExternalSource)
