// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A training's graph on a simulated device that delays, refuses or fails each piece of work in
// turn. Every step gives the right bytes or an error that says what failed; nothing hangs, and no
// memory stays behind.
#include <deque>

#include "run/device/mixed_testing.h"

namespace stoker {
namespace {

constexpr int kSteps = 2;

// Pictures are decoded for the device, and resized, flipped and normalised there; some are flipped
// again on the CPU and go back. Draws of ragged shapes are made on the device. The outputs are on
// both.
Graph training(const Pictures& folder) {
  Graph g;
  const auto gpu = [&](const char* op, Arguments a, std::vector<std::optional<Ref>> inputs,
                       std::vector<ArgumentLink> links = {}) {
    return Ref{g.add({.op = op,
                      .device = DeviceKind::kGpu,
                      .arguments = std::move(a),
                      .inputs = std::move(inputs),
                      .links = std::move(links)}),
               0};
  };
  const int files = add_shuffled_files(g, folder);
  const Ref picture{
      g.add({.op = "decoders.image", .device = DeviceKind::kMixed, .inputs = {Ref{files, 0}}}), 0};
  const Ref window{g.add({.op = "decoders.image_random_crop",
                          .device = DeviceKind::kMixed,
                          .inputs = {Ref{files, 0}}}),
                   0};
  const Ref coin{g.add({.op = "random.coin_flip"}), 0};
  const Ref small = gpu("resize", {{"size", std::vector<double>{20, 24}}}, {picture});
  const Ref normal = gpu("crop_mirror_normalize",
                         {{"crop", std::vector<int64_t>{16, 20}},
                          {"mean", std::vector<double>{120.0}},
                          {"std", std::vector<double>{60.0}}},
                         {small}, {{"mirror", coin}});
  const Ref flipped = gpu("flip", {{"vertical", int64_t{1}}}, {window});
  const Ref turned{
      g.add({.op = "flip", .arguments = {{"horizontal", int64_t{1}}}, .inputs = {flipped}}), 0};
  const Ref back = gpu("cast", {{"dtype", std::string("float16")}}, {turned});
  const Ref size = gpu("random.uniform",
                       {{"values", std::vector<double>{0, 1, 3, 50}},
                        {"shape", std::vector<int64_t>{2}},
                        {"dtype", std::string("int32")}},
                       {});
  const Ref draws = gpu("random.uniform", {}, {}, {{"shape", size}});
  g.outputs = {{files, 1},    normal, {normal, true}, flipped, {flipped, true},
               {draws, true}, draws,  draws,          turned,  back};
  return g;
}

PipelineOptions settings(const char* executor) {
  PipelineOptions o = options(executor);
  o.batch_size = 2;
  o.prefetch_queue_depth = 2;
  return o;
}

// Every shape and byte of a step. Throws what failed on the device.
std::string bytes_of_step(const Outputs& out) {
  std::deque<std::string> all;
  const auto stream = device(0).make_stream("test");
  for (const Batch& b : out.batches) {
    if (b.on_device) stream->wait(*b.on_device->ready);
    for (const Sample& s : b.samples) {
      all.push_back(s.view.shape.str());
      std::string& bytes = all.emplace_back(static_cast<size_t>(s.view.bytes()), 0);
      if (b.on_device) stream->copy(bytes.data(), s.view.data, bytes.size(), Copy::kToHost, "test");
      else bytes.assign(s.view.as<char>(), bytes.size());
    }
  }
  stream->synchronize();
  std::string joined;
  for (const std::string& text : all) joined += text;
  return joined;
}

std::vector<std::string> steps_of(const Graph& g, const PipelineOptions& o, int steps) {
  Pipeline p(g, o);
  std::vector<std::string> all;
  for (int s = 0; s < steps; ++s) all.push_back(bytes_of_step(*p.run()));
  return all;
}

class DeviceFaults : public OnMixed {
 protected:
  void SetUp() override {
    OnMixed::SetUp();
    want_ = steps_of(graph_, settings("simple"), kSteps);
  }

  // Runs all steps while one piece of work fails. A step that fails is asked for again, and must be
  // right when it comes. Returns the number of errors, among them outputs that cannot be read.
  int run_all(const char* executor) {
    int errors = 0;
    {
      Pipeline p(graph_, settings(executor));
      for (int s = 0; s < kSteps; ++s) {
        std::optional<Outputs> out;
        while (!out) {
          try {
            out = p.run();
          } catch (const DeviceError& e) {
            expect_clear(e.what(), ++errors);
          } catch (const BudgetError& e) {
            expect_clear(e.what(), ++errors);
          }
        }
        try {
          EXPECT_EQ(bytes_of_step(*out), want_[s]) << executor << ", step " << s;
        } catch (const DeviceError& e) {
          expect_clear(e.what(), ++errors);
        }
      }
      p.stop();
      EXPECT_EQ(p.stats().batches.in_use, 0u);
    }
    EXPECT_EQ(device().usage().in_use, 0u);
    EXPECT_EQ(device().usage().allocations, 0);
    EXPECT_EQ(device().usage().pinned, 0u);
    return errors;
  }

  // A clear error names an operator, a piece of its work, or memory that all operators share.
  void expect_clear(const std::string& text, int errors) const {
    bool is_named = text.find("of host memory failed") != text.npos ||
                    text.find("the system has no memory for") != text.npos ||
                    text.find("'test'") != text.npos;  // the stream of bytes_of_step()
    for (const Node& n : graph_.nodes) is_named |= text.find("'" + n.name) != text.npos;
    for (const char* work : {"copy 'upload'", "copy 'download'", "copy 'fake'", "copy 'copy'"})
      is_named |= text.find(work) != text.npos;
    EXPECT_TRUE(is_named) << text;
    ASSERT_LE(errors, 2) << text;
  }

  const Pictures folder_{5};
  const Graph graph_ = training(folder_);
  std::vector<std::string> want_;  // by step
};

TEST_F(DeviceFaults, DelaysChangeNoByte) {
  const int steps = 8;
  const std::vector<std::string> want = steps_of(graph_, settings("simple"), steps);
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    if (seed == 4) FakeDecoder::install();
    device().delay_all(seed, std::chrono::microseconds(400));
    {
      Pipeline p(graph_, settings("pipelined"));
      // Several steps are held at once, so streams and memory are used again meanwhile.
      std::vector<Outputs> held;
      for (int s = 0; s < steps; ++s) {
        held.push_back(*p.run());
        if (s % 3 != 2) continue;
        for (size_t k = 0; k < held.size(); ++k)
          EXPECT_EQ(bytes_of_step(held[k]), want[s + 1 - held.size() + k]) << seed << ", " << s;
        held.clear();
      }
    }
    EXPECT_EQ(device().usage().in_use, 0u);
    EXPECT_EQ(device().usage().pinned, 0u);
  }
}

// What fails and how, which executor runs, and whether the device's decoder takes the pictures.
struct Kind {
  DeviceCall what;
  bool at_once;  // refused when it is asked for, instead of failing on the stream
  const char* executor;
  bool is_decoder_there;
};

std::vector<Kind> kinds() {
  std::vector<Kind> all;
  for (const DeviceCall what :
       {DeviceCall::kAllocate, DeviceCall::kPin, DeviceCall::kCopy, DeviceCall::kLaunch})
    for (const bool at_once : {false, true}) {
      all.push_back({what, at_once, "simple", false});
      all.push_back({what, at_once, "pipelined", false});
      all.push_back({what, at_once, "pipelined", true});
    }
  return all;
}

std::string name_of(const testing::TestParamInfo<Kind>& info) {
  static constexpr const char* kWhat[] = {"Allocation", "Pinning", "Copy", "Launch"};
  const Kind& k = info.param;
  return std::string(kWhat[static_cast<int>(k.what)]) + (k.at_once ? "Refused" : "Failed") +
         (k.executor == std::string("simple") ? "Simple" : "") +
         (k.is_decoder_there ? "WithADecoder" : "");
}

class EachFault : public DeviceFaults, public testing::WithParamInterface<Kind> {};

TEST_P(EachFault, IsTheRightBytesOrAClearError) {
  const Kind& kind = GetParam();
  if (kind.is_decoder_there) FakeDecoder::install();
  int errors = 0, nth = 0;
  do {  // repeats until a run has no such work left
    ++nth;
    device().delay_all(static_cast<uint64_t>(nth), std::chrono::microseconds(nth % 4 ? 0 : 100));
    kind.at_once ? device().refuse(kind.what, nth) : device().fail(kind.what, nth);
    errors += run_all(kind.executor);
  } while (!device().forget_faults() && !HasFailure());
  EXPECT_GT(nth, kind.what == DeviceCall::kPin ? 2 : kSteps * 3);
  EXPECT_EQ(errors > 0, !(kind.what == DeviceCall::kPin && kind.at_once))
      << "a smaller slab will do";
  EXPECT_EQ(fake().alive, 0);
}

INSTANTIATE_TEST_SUITE_P(Device, EachFault, testing::ValuesIn(kinds()), name_of);

}  // namespace
}  // namespace stoker
