// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// For the tests of src/run: an operator that sees whole batches.
#include "kernels/strided_copy.h"
#include "op/type_of.h"

namespace stoker::ops::test {

struct NextSample {
  bool fail = false;

  static constexpr auto schema =
      describe("test.next_sample",
               "Gives each sample the value of the next one, and the last that of the first.",
               ports({.name = "input", .help = "Any tensor."}),
               ports({.name = "output", .help = "The next sample."},
                     {.name = "count", .help = "The number of samples, int32."}),
               arg(&NextSample::fail, "fail", "Whether the batch fails.", kPerSample));

  void check(Checker& c) const {
    TensorType any = c.in();
    any.shape = Shape::filled(any.shape.rank, -1);
    c.out(any);
    c.out({DType::kInt32, {}, {}});
  }

  static void infer_batch(BatchInference& b, std::span<const NextSample* const> items) {
    for (size_t i = 0; i < b.items.size(); ++i) {
      require(!items[i]->fail, "item ", i, " fails");
      b.items[i].outputs = {b.items[(i + 1) % b.items.size()].inputs[0], {DType::kInt32, {}, {}}};
    }
  }
  static void run_batch(BatchRun& r, std::span<const NextSample* const>) {
    for (size_t i = 0; i < r.items.size(); ++i) {
      copy_to_dense(r.items[(i + 1) % r.items.size()].inputs[0], r.items[i].outputs[0].data);
      *r.items[i].outputs[1].as<int32_t>() = static_cast<int32_t>(r.items.size());
    }
  }
  static void run_gpu(GpuRun& r, std::span<const NextSample* const>) {
    const auto count = static_cast<int32_t>(r.items.size());
    const int32_t* there = r.put(std::span<const int32_t>(&count, 1));
    for (size_t i = 0; i < r.items.size(); ++i) {
      const View& from = r.items[(i + 1) % r.items.size()].inputs[0];
      const View& to = r.items[i].outputs[0];
      r.stream.copy(to.data, from.data, static_cast<size_t>(to.bytes()), Copy::kOnDevice, r.name);
      r.stream.copy(r.items[i].outputs[1].data, reinterpret_cast<const std::byte*>(there),
                    sizeof count, Copy::kOnDevice, r.name);
    }
  }
};

}  // namespace stoker::ops::test

STOKER_OPERATOR(stoker::ops::test::NextSample)
