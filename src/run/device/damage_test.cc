// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Damaged pictures are good or bad under every executor, rewrite and device alike: Note [What is
// judged] (run/chain/chain.h).
#include <algorithm>

#include "run/device/mixed_testing.h"

namespace stoker {
namespace {

// JPEG files of every orientation, baseline and progressive, with and without restart markers.
// Unless `is_sound`, one of three is cut, and in one a few bytes in the middle are wrong.
class DamagedPictures : public SampleFolder {
 public:
  static constexpr int kCount = 48;
  static bool is_cut(int i) { return i % 3 == 1; }
  explicit DamagedPictures(bool is_sound = false) : SampleFolder(kCount) {
    std::mt19937 random(5);
    for (int i = 0; i < kCount; ++i) {
      test::JpegKind kind{.width = 60 + i, .height = 90 - i / 2};
      if (i % 2) kind.sampling = {{2, 1, 1, 1}, {2, 1, 1, 1}};
      kind.progressive = i / 3 % 2;
      kind.restart_interval = i % 4 == 0 ? 3 : 0;
      kind.orientation = i % 8 + 1;
      kind.seed = static_cast<unsigned>(i + 1);
      std::vector<uint8_t> file = test::make_jpeg(kind);
      const size_t at = file.size() * (40 + random() % 59) / 100;
      if (!is_sound && is_cut(i)) file.resize(at);
      if (!is_sound && i % 3 == 2)
        for (size_t k = at; k < std::min(at + 8, file.size()); ++k) file[k] ^= 0x5A;
      std::ofstream(path(i), std::ios::binary)
          .write(reinterpret_cast<const char*>(file.data()), static_cast<long>(file.size()));
    }
  }
};

struct Topology {
  const char* executor;
  bool demand, fuse;
  DeviceKind decoding, after;

  std::string str() const {
    return std::string(executor) + (demand ? " demand" : "") + (fuse ? " fused " : " ") +
           name_of(decoding) + " " + name_of(after);
  }
};

enum class Shown { kCrop, kResized, kTwice, kRandom };

// Labels, and parts of pictures that lie near the top, in the middle, or near the bottom.
Graph damaged_graph(const DamagedPictures& folder, Shown use, double place, DeviceKind decoding,
                    DeviceKind after) {
  Graph g;
  const int files = add_shuffled_files(g, folder);
  const auto add = [&](const char* op, DeviceKind device, Ref in, Arguments a) {
    return Ref{g.add({.op = op, .device = device, .arguments = std::move(a), .inputs = {in}}), 0};
  };
  const Arguments crop{{"crop", std::vector<int64_t>{16, 20}}, {"crop_pos_y", place}};
  Ref picture = add(use == Shown::kRandom ? "decoders.image_random_crop" : "decoders.image",
                    decoding, {files, 0}, {});
  if (decoding == DeviceKind::kCpu && after == DeviceKind::kGpu)
    picture = add("copy", DeviceKind::kGpu, picture, {});
  g.outputs = {{files, 1}};
  if (use == Shown::kTwice) {
    const Ref flipped = add("flip", after, picture, {{"vertical", int64_t{1}}});
    g.outputs.push_back(add("crop", after, flipped, crop));
  }
  if (use == Shown::kResized)
    picture = add("resize", after, picture, {{"size", std::vector<double>{60, 60}}});
  if (use == Shown::kRandom)
    picture = add("resize", after, picture, {{"size", std::vector<double>{40, 40}}});
  g.outputs.push_back(add("crop", after, picture, crop));
  return g;
}

std::vector<std::string> all_of(const Graph& g, const Topology& t, const char* on_error) {
  PipelineOptions o = options(t.executor, on_error);
  o.demand = t.demand;
  o.fuse = t.fuse;
  Pipeline p(g, o);
  std::vector<std::string> all;
  for (int s = 0; s < DamagedPictures::kCount / 4; ++s) {
    const Outputs out = *p.run();
    for (size_t i = 0; i < out.batches[0].samples.size(); ++i) {
      all.push_back("label " + std::to_string(label(out, i)) + ": ");
      for (size_t k = 1; k < out.batches.size(); ++k)
        all.back() += shape_and_bytes(out.batches[k], i);
    }
    for (const SampleFailure& f : out.failures)
      all.push_back("failure " + std::to_string(f.index) + " of " + f.op + ": " + f.message +
                    " at " + std::to_string(f.offset));
  }
  return all;
}

int64_t count(const std::vector<std::string>& all, const std::string& word) {
  return std::count_if(all.begin(), all.end(),
                       [&](const std::string& s) { return s.starts_with(word); });
}

constexpr double kPlaces[] = {0, 0.4, 1};
constexpr Topology kJudge{"simple", false, false, DeviceKind::kCpu, DeviceKind::kCpu};

using Damage = OnMixed;

void expect_the_judges(const std::vector<Topology>& all, Shown use, const char* on_error) {
  const DamagedPictures folder;
  for (const double place : kPlaces) {
    const auto of = [&](const Topology& t) {
      return all_of(damaged_graph(folder, use, place, t.decoding, t.after), t, on_error);
    };
    const auto want = of(kJudge);
    for (const Topology& t : all)
      EXPECT_TRUE(of(t) == want) << t.str() << ", use " << static_cast<int>(use) << ", place "
                                 << place << ", on_error " << on_error;
  }
}

TEST_F(Damage, FailsTheSameSamplesUnderEveryRewrite) {
  std::vector<Topology> all;
  for (const char* executor : {"simple", "pipelined"})
    for (const bool demand : {false, true})
      for (const bool fuse : {false, true})
        all.push_back({executor, demand, fuse, DeviceKind::kCpu, DeviceKind::kCpu});
  for (const Shown use : {Shown::kCrop, Shown::kResized, Shown::kTwice, Shown::kRandom})
    expect_the_judges(all, use, "skip");
  expect_the_judges(all, Shown::kTwice, "replace");
}

TEST_F(Damage, FailsTheSameSamplesOnDevices) {
  std::vector<Topology> all;
  for (const DeviceKind decoding : {DeviceKind::kCpu, DeviceKind::kMixed})
    for (const bool demand : {false, true})
      all.push_back({"pipelined", demand, true, decoding, DeviceKind::kGpu});
  for (const bool has_decoder : {false, true}) {
    if (has_decoder) FakeDecoder::install();
    for (const Shown use : {Shown::kResized, Shown::kTwice}) expect_the_judges(all, use, "skip");
  }
}

TEST_F(Damage, BehindTheJudgedWindowChangesNoPixel) {
  const DamagedPictures folder, sound(true);
  int64_t good = 0, bad = 0;
  for (const double place : kPlaces) {
    const auto of = [&](const DamagedPictures& pictures, const char* on_error) {
      return all_of(
          damaged_graph(pictures, Shown::kCrop, place, DeviceKind::kCpu, DeviceKind::kCpu), kJudge,
          on_error);
    };
    const auto want = of(sound, "raise");
    ASSERT_EQ(count(want, "label"), DamagedPictures::kCount);
    const auto got = of(folder, "skip");
    for (int i = 0; i < DamagedPictures::kCount; ++i) {
      if (!DamagedPictures::is_cut(i)) continue;
      const std::string name = "label " + std::to_string(i) + ":";
      const auto is_it = [&](const std::string& s) { return s.starts_with(name); };
      const auto at = std::find_if(got.begin(), got.end(), is_it);
      ++(at == got.end() ? bad : good);
      if (at != got.end()) {
        EXPECT_TRUE(*at == *std::find_if(want.begin(), want.end(), is_it)) << name << place;
      }
    }
  }
  EXPECT_GT(good, 5);
  EXPECT_GT(bad, 5);
}

}  // namespace
}  // namespace stoker
