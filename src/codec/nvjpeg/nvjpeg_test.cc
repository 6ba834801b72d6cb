// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The code around nvJPEG, against the stand-ins for nvJPEG and CUDA.
#include "codec/nvjpeg/nvjpeg.h"

#include <thread>

#include "codec/nvjpeg/testing.h"

namespace stoker::test {
namespace {

using nvjpeg::kGpuHybrid;
using nvjpeg::kHardware;
using nvjpeg::kHybrid;

std::vector<File> files() {
  std::vector<File> all;
  for (int i = 0; i < 12; ++i) {
    JpegKind kind;
    kind.width = 17 + 13 * i;
    kind.height = 41 - 3 * i;
    kind.seed = static_cast<unsigned>(i);
    if (i % 4 == 0) kind.stored = JCS_GRAYSCALE;
    else kind.sampling = {{i % 4 == 1 ? 1 : 2, 1, 1, 1}, {i % 4 == 3 ? 2 : 1, 1, 1, 1}};
    all.push_back(make_jpeg(kind));
  }
  return all;
}

std::vector<Asked> with(const DeviceDecodeOptions& device, const DecodeOptions& o = {}) {
  std::vector<Asked> all;
  for (File& f : files()) all.push_back({std::move(f), o, {}, device});
  return all;
}

int count(nvjpeg::Backend backend) {
  int n = 0;
  for (const auto& d : fake::nvjpeg().decoded) n += d.backend == backend;
  return n;
}

class NvJpeg : public NvJpegTest {};

TEST_F(NvJpeg, GivesWhatTheCodecGivesByEveryWay) {
  for (ImageType type : {ImageType::kRGB, ImageType::kBGR, ImageType::kGray, ImageType::kAny})
    for (float share : {0.0f, 0.5f, 1.0f})
      for (int64_t most : {int64_t{0}, int64_t{1} << 30}) {
        DecodeOptions o;
        o.output_type = type;
        DeviceDecodeOptions device = with_share(share);
        device.most_host_huffman = most;
        fake::nvjpeg().decoded.clear();
        expect_the_cpus(with(device, o));
        const int host = share == 1 ? 0 : share == 0 ? 12 : 12 - count(kHardware);
        EXPECT_EQ(count(kHardware), 12 - host);
        EXPECT_EQ(count(most ? kHybrid : kGpuHybrid), host);
      }
}

TEST_F(NvJpeg, TheShareOfTheHardwareEngineFollowsFromTheBytes) {
  std::vector<File> many;
  for (int i = 0; i < 400; ++i)
    many.push_back(make_jpeg({.width = 8, .height = 8, .seed = static_cast<unsigned>(i)}));
  auto chosen = [&](float share) {
    std::vector<bool> is_chosen;
    for (const File& f : many) {
      fake::nvjpeg().decoded.clear();
      expect_the_cpus({{f, {}, {}, with_share(share)}});
      is_chosen.push_back(count(kHardware) == 1);
    }
    return is_chosen;
  };
  const std::vector<bool> some = chosen(0.65f);
  const auto n = std::count(some.begin(), some.end(), true);
  EXPECT_GT(n, 220);
  EXPECT_LT(n, 300);
  EXPECT_EQ(chosen(0.65f), some);
}

TEST_F(NvJpeg, AGpuWithoutTheEngineDoesWithout) {
  fake::nvjpeg().has_hardware = false;
  EXPECT_EQ(decoder().kind().name, "nvJPEG");
  EXPECT_EQ(
      decoder().kind().words,
      "nvJPEG 13.3.0 (the stand-in) decodes on cuda:1; the CPU decodes what nvJPEG does not do");
  expect_the_cpus(with(with_share(1)));
  EXPECT_EQ(count(kHardware), 0);
}

TEST_F(NvJpeg, WindowsAreDecodedOrCutFromTheWhole) {
  EXPECT_NE(decoder().kind().words.find("with its JPEG engine"), std::string::npos);
  const File file =
      make_jpeg({.width = 101, .height = 67, .sampling = {{2, 1, 1, 1}, {2, 1, 1, 1}}});
  const Window window{{5, 9, 0}, {40, 90, 3}};
  for (int minor : {3, 2})
    for (bool smooth : {true, false})
      for (float share : {0.0f, 1.0f}) {
        decoder_.reset();
        fake::nvjpeg().version[1] = minor;
        DeviceDecodeOptions o = with_share(share);
        o.smooth_upsampling = smooth;
        fake::nvjpeg().decoded.clear();
        fake::cuda().calls.clear();
        expect_the_cpus({{file, {}, window, o}, {file, {}, {}, o}});
        const bool is_cut = smooth && minor == 2;
        const auto& d = fake::nvjpeg().decoded;
        ASSERT_EQ(d.size(), 2u);
        EXPECT_EQ(d[0].width, is_cut ? -1 : 81);
        EXPECT_EQ(d[0].x, is_cut ? 0 : 9);
        EXPECT_EQ(d[0].y, is_cut ? 0 : 5);
        EXPECT_EQ(d[1].width, -1) << "a window of before is forgotten";
        EXPECT_EQ(fake::cuda().count("cudaMemcpy2DAsync 3 1"), share > 0 ? 2 : is_cut);
      }
}

TEST_F(NvJpeg, FlagsSayHowChromaIsUpsampled) {
  for (bool smooth : {false, true}) {
    DeviceDecodeOptions o;
    o.smooth_upsampling = smooth;
    fake::nvjpeg().flags.clear();
    decoder_.reset();
    expect_the_cpus(with(o));
    const unsigned want = smooth ? 4 | 32 : 4;
    EXPECT_EQ(fake::nvjpeg().flags[nvjpeg::kDefaultBackend], want);
    EXPECT_EQ(fake::nvjpeg().flags[kHardware], want);
  }
}

TEST_F(NvJpeg, LeavesTheRestToTheCpu) {
  auto is_left = [&](const File& file, const DecodeOptions& o = {}) {
    return prepare({file, o, {}, {}}) == nullptr;
  };
  const File plain = make_jpeg({});
  EXPECT_FALSE(is_left(plain));
  EXPECT_TRUE(is_left(make_jpeg({.stored = JCS_CMYK}))) << "four colours";
  EXPECT_TRUE(is_left(make_jpeg({.stored = JCS_RGB}))) << "no YCbCr";
  EXPECT_TRUE(is_left(make_jpeg({.arithmetic = true})));
  EXPECT_TRUE(is_left(make_jpeg({.orientation = 6})));
  DecodeOptions o;
  o.adjust_orientation = false;
  EXPECT_FALSE(is_left(make_jpeg({.orientation = 6}), o));
  o = {};
  o.verify = true;
  EXPECT_TRUE(is_left(plain, o));
  o = {};
  o.tolerate_corrupt = true;
  EXPECT_TRUE(is_left(plain, o));
  o = {};
  o.output_type = ImageType::kYCbCr;
  EXPECT_TRUE(is_left(plain, o));
  EXPECT_TRUE(is_left(cut(plain, plain.size() - 2))) << "no end";
  EXPECT_TRUE(is_left(cut(plain, plain.size() / 2)));
  File padded = plain;
  padded.resize(padded.size() + 7);
  EXPECT_FALSE(is_left(padded));
  const Asked asked{plain, {}, {}, {}};
  DecodeRequest empty = request_of(asked);
  empty.window.end[0] = 0;
  EXPECT_EQ(decoder().prepare(empty, pool_), nullptr);
}

TEST_F(NvJpeg, ProgressivePicturesTakeTheWayThatDoesThem) {
  JpegKind kind;
  kind.progressive = true;
  DeviceDecodeOptions o = with_share(1);
  o.most_host_huffman = 0;
  expect_the_cpus({{make_jpeg(kind), {}, {}, o}});
  EXPECT_EQ(count(kHybrid), 1);
  EXPECT_EQ(fake::nvjpeg().decoded.size(), 1u);
  EXPECT_EQ(fake::nvjpeg().calls["nvjpegDecoderJpegSupported"], 1) << "only of who does them";
}

TEST_F(NvJpeg, AWindowIsDecodedByWhoDecodesTheWhole) {
  fake::nvjpeg().does_windows = false;
  DeviceDecodeOptions o = with_share(1);
  const Window window{{5, 9, 0}, {30, 40, 3}};
  const Asked asked{make_jpeg({.width = 101, .height = 67}), {}, window, o};
  expect_the_cpus({asked});
  EXPECT_EQ(count(kHardware), 1);
  o = with_share(0);
  for (int64_t most : {int64_t{0}, int64_t{1} << 30}) {
    o.most_host_huffman = most;
    fake::nvjpeg().decoded.clear();
    expect_the_cpus({{asked.file, {}, window, o}});
    EXPECT_EQ(count(most ? kHybrid : kGpuHybrid), 1);
    EXPECT_EQ(fake::nvjpeg().decoded[0].width, -1) << "the window was cut";
  }
}

TEST_F(NvJpeg, TwoDecodesOfOnePicture) {
  for (float share : {0.0f, 1.0f}) {
    Batch b = prepare_all(with(with_share(share)));
    for (int times = 0; times < 2; ++times) {
      for (File& out : b.out) std::fill(out.begin(), out.end(), uint8_t{7});
      EXPECT_TRUE(decoder().decode(*stream_, b.jobs).empty());
      stream_->synchronize();
      for (size_t i = 0; i < b.out.size(); ++i)
        EXPECT_TRUE(b.out[i] == expected(with(with_share(share))[i]));
    }
  }
}

// Objects come back only when the stream has passed them. No call waits for the device once the
// hardware engine has memory for as many steps as are enqueued.
TEST_F(NvJpeg, ObjectsComeBackBehindTheStream) {
  for (float share : {0.0f, 1.0f, 0.5f}) {
    const std::vector<Asked> all = with(with_share(share));
    const auto other = device().make_stream("other");
    for (bool is_warm : {false, true}) {
      fake::cuda().waits = true;
      fake::cuda().calls.clear();
      std::vector<Batch> open;
      for (int step = 0; step < (share > 0 ? 2 : 6); ++step) {
        open.push_back(prepare_all(all));
        EXPECT_TRUE(decoder().decode(step % 2 ? *other : *stream_, open.back().jobs).empty());
        open.back().pictures.clear();
      }
      EXPECT_GT(pool_.usage().in_use, 0u) << "the bytes are still read";
      EXPECT_EQ(fake::cuda().count("cudaStreamSynchronize 1") == 0, is_warm || share == 0);
      stream_->synchronize();
      fake::cuda().waits = false;
      EXPECT_EQ(pool_.usage().in_use, 0u);
      for (const Batch& b : open)
        for (size_t i = 0; i < all.size(); ++i) EXPECT_TRUE(b.out[i] == expected(all[i]));
    }
    decoder_.reset();  // it refers to a stream that ends here
  }
}

// Note [Early writes]
TEST_F(NvJpeg, WhatIsStillReadIsNotWrittenTo) {
  for (float share : {0.0f, 1.0f}) {
    const Asked asked{make_jpeg({.width = 60, .height = 50}), {}, {}, with_share(share)};
    Batch b = decode_all({asked});  // so that there is memory
    File& place = b.out[0];
    std::fill(place.begin(), place.end(), uint8_t{7});
    File read(place.size());
    fake::cuda().waits = true;
    stream_->copy(read.data(), place.data(), place.size(), Copy::kToHost, "read");
    EXPECT_TRUE(decoder().decode(*stream_, b.jobs).empty());
    stream_->synchronize();
    fake::cuda().waits = false;
    EXPECT_TRUE(read == File(place.size(), uint8_t{7}));
    EXPECT_TRUE(place == expected(asked));
  }
}

TEST_F(NvJpeg, PageLockedMemoryIsSharedByPictures) {
  for (int step = 0; step < 3; ++step) expect_the_cpus(with(with_share(0)));
  EXPECT_EQ(fake::cuda().count("cudaHostAlloc 1 1"), 1);
  EXPECT_EQ(fake::cuda().count("cudaFreeHost 1"), 0);
}

TEST_F(NvJpeg, ObjectsAreAsManyAsPicturesUnderWay) {
  for (int step = 0; step < 10; ++step) expect_the_cpus(with(with_share(0)));
  EXPECT_EQ(fake::nvjpeg().most["bitstream"], 12);
  EXPECT_EQ(fake::nvjpeg().most["pinned buffer"], 12);
  EXPECT_LE(fake::nvjpeg().most["state"], 12);
  EXPECT_EQ(fake::nvjpeg().most["device buffer"], 1) << "one a stream";
}

TEST_F(NvJpeg, ALargePageLockedBufferIsNotKept) {
  const File large = make_jpeg({.width = 4000, .height = 3000, .stored = JCS_GRAYSCALE});
  expect_the_cpus({{large, {}, {}, with_share(0)}});
  expect_the_cpus({{make_jpeg({}), {}, {}, with_share(0)}});
  EXPECT_EQ(fake::nvjpeg().calls["nvjpegBufferPinnedDestroy"], 1);
}

TEST_F(NvJpeg, TrimGivesBackWhatNoPictureUses) {
  const std::vector<Asked> all = with(with_share(0.5f));
  expect_the_cpus(all);
  EXPECT_GT(memory_->in_use(), 0u);
  decoder().trim();
  EXPECT_EQ(memory_->in_use(), 0u);
  EXPECT_EQ(device().usage().in_use, 0u);
  EXPECT_EQ(device().usage().pinned, 0u);
  Batch prepared = prepare_all(all), enqueued = prepare_all(all);
  fake::cuda().waits = true;
  EXPECT_TRUE(decoder().decode(*stream_, enqueued.jobs).empty());
  decoder().trim();
  EXPECT_TRUE(decoder().decode(*stream_, prepared.jobs).empty());
  stream_->synchronize();
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_TRUE(enqueued.out[i] == expected(all[i]));
    EXPECT_TRUE(prepared.out[i] == expected(all[i]));
  }
}

TEST_F(NvJpeg, HostMemoryCountsAndBounds) {
  const File file = make_jpeg({.width = 200, .height = 200});
  const Asked asked{file, {}, {}, with_share(0)};
  const auto p = prepare(asked);
  EXPECT_GE(pool_.usage().of(Use::kOutput), file.size() + size_t{200 * 200 * 3});
  for (float share : {0.0f, 1.0f}) {
    HostPool none(100);
    EXPECT_THROW((void)decoder().prepare(request_of({file, {}, {}, with_share(share)}), none),
                 Starved);
  }
}

TEST_F(NvJpeg, ManyWorkersPrepareWhileOneThreadDecodes) {
  const std::vector<Asked> all = with(with_share(0.5f));
  (void)decoder();
  using Pictures = std::vector<std::unique_ptr<PreparedPicture>>;
  std::vector<Pictures> ready;
  for (int step = 0; step < 4; ++step) {
    std::vector<Pictures> next(4);
    std::vector<std::thread> workers;
    for (int w = 0; w < 4; ++w)
      workers.emplace_back([&, w] {
        for (const Asked& a : all) next[w].push_back(decoder_->prepare(request_of(a), pool_));
      });
    for (const Pictures& pictures : ready)
      for (size_t i = 0; i < all.size(); ++i) {
        const DecodeRequest r = request_of(all[i]);
        File out(static_cast<size_t>(r.window.shape().volume()));
        const DecodeJob job{pictures[i].get(), View::window(out.data(), DType::kUint8, r.window,
                                                            r.image.type().shape, "HWC")};
        EXPECT_TRUE(decoder_->decode(*stream_, {&job, 1}).empty());
        EXPECT_TRUE(out == expected(all[i]));
      }
    ready.clear();
    for (std::thread& w : workers) w.join();
    ready = std::move(next);
  }
}

}  // namespace
}  // namespace stoker::test
