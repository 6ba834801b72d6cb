// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// device="mixed" on a simulated device gives the pictures of device="cpu", whichever decoder makes
// them, under every policy and fault.
#include <deque>

#include "run/device/mixed_testing.h"

namespace stoker {
namespace {

// Labels, whole pictures, crops of flipped pictures, random windows, and crops of the middle.
// Pictures are decoded on `decoding`; the rest runs on `after`.
Graph graph(const Pictures& folder, DeviceKind decoding, DeviceKind after) {
  Graph g;
  const int files = add_shuffled_files(g, folder);
  auto decoder = [&](const char* op, Arguments a) {
    return Ref{g.add({.op = op, .device = decoding, .arguments = a, .inputs = {Ref{files, 0}}}), 0};
  };
  auto then = [&](const char* op, Ref in, Arguments a) {
    return Ref{g.add({.op = op, .device = after, .arguments = a, .inputs = {in}}), 0};
  };
  const Ref whole = decoder("decoders.image", {});
  const Ref looked_at = decoder("decoders.image", {});
  const Ref random = decoder("decoders.image_random_crop", {});
  const Ref wide = decoder("decoders.image_crop", {{"crop", std::vector<int64_t>{16, 20}},
                                                   {"dtype", std::string("int16")}});
  const std::vector<int64_t> crop{12, 10};
  const Ref flipped = then("flip", looked_at, {{"horizontal", int64_t{1}}});
  g.outputs = {{files, 1}, whole, then("crop", flipped, {{"crop", crop}}), random, wide};
  return g;
}

// Every byte of so many steps, by sample, or the message of a step that failed.
std::vector<std::string> all_of(const Graph& g, const PipelineOptions& o, int steps) {
  Pipeline p(g, o);
  std::vector<std::string> samples;
  for (int s = 0; s < steps; ++s) {
    try {
      const Outputs out = *p.run();
      if (out.is_lost) samples.emplace_back("dropped: " + out.failures[0].message);
      for (size_t i = 0; !out.is_lost && i < out.batches[0].samples.size(); ++i) {
        std::string& all = samples.emplace_back();
        for (const Batch& b : out.batches) {
          EXPECT_EQ(b.samples.size(), out.batches[0].samples.size());
          all += shape_and_bytes(b, i);
        }
      }
    } catch (const BatchError& e) {
      samples.emplace_back(e.what());
    }
  }
  return samples;
}

using Mixed = OnMixed;

// Expects the CPU's samples from decoders that take all pictures or some, or give some up later.
void expect_the_cpus(const Pictures& folder, const char* on_error, int64_t batch_size = 4) {
  auto on = [&](DeviceKind decoding, DeviceKind after, const char* executor) {
    PipelineOptions o = options(executor, on_error);
    o.batch_size = batch_size;
    return all_of(graph(folder, decoding, after), o, static_cast<int>(24 / batch_size));
  };
  const auto want = on(DeviceKind::kCpu, DeviceKind::kCpu, "simple");
  auto some = [](EncodedSpan b) { return b.size() % 2 == 0; };
  for (int decoder = 0; decoder < 4; ++decoder) {
    if (decoder == 1) FakeDecoder::install();
    if (decoder == 2) FakeDecoder::state().accepts = some;
    if (decoder == 3) FakeDecoder::install(), FakeDecoder::state().can_finish = some;
    for (const char* executor : {"simple", "pipelined"})
      for (DeviceKind after : {DeviceKind::kGpu, DeviceKind::kCpu})
        EXPECT_EQ(on(DeviceKind::kMixed, after, executor), want)
            << executor << ", decoder " << decoder << ", on_error " << on_error << ", after on "
            << name_of(after);
  }
  EXPECT_GT(FakeDecoder::state().prepared, 0);
  EXPECT_EQ(FakeDecoder::state().alive, 0);
}

TEST_F(Mixed, GivesThePicturesOfTheCpu) {
  const Pictures folder(11);
  expect_the_cpus(folder, "raise");
  EXPECT_GT(fake().refused, 0);
}

// The message names the operator's instance, the file and the byte, whichever decoder came first.
TEST_F(Mixed, DamagedFilesMeetThePolicyOfTheCpu) {
  const Pictures folder(11, {2, 3, 8});
  for (const char* on_error : {"raise", "skip", "replace"}) {
    use_device_decoders(nullptr);
    expect_the_cpus(folder, on_error);
  }
}

TEST_F(Mixed, BatchesOfDamagedFilesAreDroppedAsOnTheCpu) {
  const Pictures folder(11, {2, 3, 8});
  for (const int64_t batch_size : {1, 2, 4}) {
    use_device_decoders(nullptr);
    expect_the_cpus(folder, "drop", batch_size);
  }
}

TEST_F(Mixed, TheDecoderIsAskedForTheWindowThatOperatorsLookAt) {
  const Pictures folder(4, {}, 96);
  FakeDecoder::install();
  Graph g = graph(folder, DeviceKind::kMixed, DeviceKind::kGpu);
  g.outputs = {g.outputs[0], g.outputs[2]};
  PipelineOptions o = options("pipelined");
  (void)*Pipeline(g, o).run();
  const std::vector<Window> asked = fake().take_windows();
  ASSERT_GE(asked.size(), 4u);
  for (const Window& w : asked) EXPECT_EQ(w.shape(), (Shape{12, 10, 3}));
  o.demand = false;
  (void)*Pipeline(g, o).run();
  for (const Window& w : fake().take_windows()) EXPECT_EQ(w.shape(), (Shape{96, 96, 3}));
}

TEST_F(Mixed, EqualPicturesAreOneDenseBatch) {
  Pictures same(4, {}, 48), ragged(4);
  const Graph dense = graph(same, DeviceKind::kMixed, DeviceKind::kGpu);
  EXPECT_TRUE(Pipeline(dense, options("pipelined")).run()->batches[1].is_dense());
  const Graph other = graph(ragged, DeviceKind::kMixed, DeviceKind::kGpu);
  const Outputs out = *Pipeline(other, options("pipelined")).run();
  EXPECT_FALSE(out.batches[1].is_dense());
  EXPECT_EQ(out.batches[1].samples[0].owner, out.batches[1].samples[3].owner);
}

TEST_F(Mixed, HostMemoryIsFreedOnceCopiedAndCounts) {
  const Pictures folder(8, {}, 200);
  for (bool takes : {false, true}) {
    if (takes) FakeDecoder::install();
    Graph g = graph(folder, DeviceKind::kMixed, DeviceKind::kGpu);
    g.outputs = {g.outputs[1]};
    Pipeline p(g, options("pipelined"));
    for (int s = 0; s < 12; ++s) (void)shape_and_bytes(p.run()->batches[0], 0);
    p.stop();
    const Usage used = p.stats().batches;
    EXPECT_EQ(used.in_use, 0u);
    EXPECT_GE(used.high_water, size_t{4} * 200 * 200 * 3);
    EXPECT_LE(used.high_water, size_t{5 * 4} * 200 * 200 * 3 * 5 / 4);  // depth, and two in flight
  }
}

TEST_F(Mixed, ATightBudgetChangesNothing) {
  const Pictures folder(11);
  const Graph g = graph(folder, DeviceKind::kMixed, DeviceKind::kGpu);
  const auto want = all_of(g, options("simple"), 6);
  PipelineOptions o = options("pipelined");
  o.memory_limit = 3 << 20;
  o.prefetch_queue_depth = 8;
  EXPECT_EQ(all_of(g, o, 6), want);
  FakeDecoder::install();
  EXPECT_EQ(all_of(g, o, 6), want);
}

TEST_F(Mixed, APictureThatNoBatchMayHaveIsBadWhoeverDecodes) {
  const Pictures folder(2, {}, 200);
  Graph g = graph(folder, DeviceKind::kMixed, DeviceKind::kGpu);
  g.outputs = {g.outputs[1]};
  for (bool takes : {false, true}) {
    if (takes) FakeDecoder::install();
    for (const char* executor : {"simple", "pipelined"}) {
      PipelineOptions o = options(executor);
      o.memory_limit = 200 * 200 * 3 + 100'000;  // half of it is less than a picture
      Pipeline p(g, o);
      for (int s = 0; s < 2; ++s) EXPECT_THROW((void)p.run(), BatchError) << executor << takes;
      for (const auto& bad : p.quarantine())
        EXPECT_NE(bad.last.message.find("half of memory_limit"), std::string::npos)
            << bad.last.message;
    }
  }
}

// Pictures of one size are decoded, and nothing else. A step has 4 times this many bytes, and the
// fake decoder keeps this many for each stream.
constexpr size_t kPicture = size_t{48} * 48 * 3;

Graph decoded(const Pictures& folder) {
  Graph g = graph(folder, DeviceKind::kMixed, DeviceKind::kGpu);
  g.outputs = {g.outputs[0], g.outputs[1]};
  return g;
}

TEST_F(Mixed, WhatADecoderKeepsForLaterMakesRoom) {
  const Pictures folder(8, {}, 48);
  const auto want = all_of(decoded(folder), options("simple"), 10);
  FakeDecoder::install();
  for (const char* executor : {"simple", "pipelined"}) {
    PipelineOptions o = options(executor);
    o.device_memory_limit = 5 * kPicture;
    EXPECT_EQ(all_of(decoded(folder), o, 10), want) << executor;
    EXPECT_EQ(device().usage().in_use, 0u);
  }
}

TEST_F(Mixed, ADecoderThatFindsNoRoomWaitsForOlderSteps) {
  const Pictures folder(8, {}, 48);
  const auto want = all_of(decoded(folder), options("simple"), 12);
  FakeDecoder::install();
  PipelineOptions o = options("pipelined");
  // There is room for three steps and one buffer of the decoder, not for a fourth step.
  o.device_memory_limit = 13 * kPicture + kPicture / 2;
  Pipeline p(decoded(folder), o);
  std::deque<Outputs> held;
  std::string text;
  std::vector<std::string> got;
  for (int s = 0; s < 12; ++s) {
    try {
      held.push_back(*p.run());
    } catch (const BudgetError& e) {
      text = e.what();
      held.clear();
      held.push_back(*p.run());
    }
    for (size_t i = 0; i < 4; ++i)
      got.push_back(shape_and_bytes(held.back().batches[0], i) +
                    shape_and_bytes(held.back().batches[1], i));
  }
  EXPECT_EQ(got, want);
  EXPECT_EQ(text.find("decoders.image 'decoders_image_0': "), 0u) << text;
  const size_t limit = p.stats().executor.device.limit;
  EXPECT_EQ(limit, o.device_memory_limit);
  EXPECT_LE(p.stats().executor.device.high_water, limit);
  held.clear();
  EXPECT_GT(device().usage().in_use, 0u) << "what the decoder keeps, and steps made ahead";
}

TEST_F(Mixed, TrimGivesBackWhatTheDecoderKeeps) {
  const Pictures folder(8, {}, 48);
  FakeDecoder::install();
  Pipeline p(decoded(folder), options("simple"));
  (void)*p.run();
  EXPECT_EQ(device().usage().in_use, kPicture);
  p.trim();
  EXPECT_EQ(device().usage().in_use, 0u);
}

TEST_F(Mixed, AFailureOfTheDeviceIsRaisedAndThePipelineGoesOn) {
  const Pictures folder(8);
  const Graph g = graph(folder, DeviceKind::kMixed, DeviceKind::kGpu);
  for (DeviceCall what : {DeviceCall::kAllocate, DeviceCall::kCopy, DeviceCall::kLaunch}) {
    Pipeline p(g, options("pipelined"));
    device().fail(what, 3);
    EXPECT_THROW(
        {
          for (int s = 0; s < 8; ++s) (void)shape_and_bytes(p.run()->batches[1], 0);
        },
        DeviceError);
    EXPECT_FALSE(shape_and_bytes(p.run()->batches[1], 0).empty());
  }
}

// The host's part of a step overlaps with the device's part of the step before.
TEST_F(Mixed, StepsOverlapOnTheVirtualClock) {
  SimulatedOptions slow;
  slow.link_bytes_per_ns = 0.5;
  use_simulated_devices(1, slow);
  const Pictures folder(8, {}, 200);
  FakeDecoder::install();
  Graph g = graph(folder, DeviceKind::kMixed, DeviceKind::kGpu);
  g.outputs = {g.outputs[1]};
  const int64_t copy_ns = 4 * 200 * 200 * 3 * 2;
  fake().host_ns = copy_ns;
  constexpr int kSteps = 20;
  PipelineOptions o = options("simple");
  Pipeline p(g, o);
  for (int s = 0; s < kSteps; ++s) (void)*p.run();
  EXPECT_GE(device().virtual_now(), kSteps * copy_ns);
  EXPECT_LT(device().virtual_now(), kSteps * copy_ns * 5 / 4);
}

TEST_F(Mixed, ThePlanSaysWhoDecodes) {
  const Pictures folder(4);
  const Graph g = graph(folder, DeviceKind::kMixed, DeviceKind::kGpu);
  Pipeline p(g, options("simple"));
  const std::string plan = p.plan_in_words();
  EXPECT_NE(plan.find("mixed decoders.image 'decoders_image_1': only the window"), plan.npos)
      << plan;
  EXPECT_NE(plan.find("mixed: simulated:0 has a stand-in: the CPU decodes"), plan.npos) << plan;
  EXPECT_EQ(p.stats().decoder, "stand-in");
}

TEST_F(Mixed, IsForDecoders) {
  const Pictures folder(1);
  auto refusal = [](const Graph& g) {
    return message<GraphError>([&] { Pipeline p(g, options("simple")); });
  };
  EXPECT_NE(refusal(graph(folder, DeviceKind::kGpu, DeviceKind::kGpu)).find("\"mixed\""),
            std::string::npos);
  EXPECT_NE(refusal(graph(folder, DeviceKind::kMixed, DeviceKind::kMixed)).find("no mixed form"),
            std::string::npos);
}

}  // namespace
}  // namespace stoker
