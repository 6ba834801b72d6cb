// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What the tests of the nvJPEG code share.
#pragma once
#include <gtest/gtest.h>

#include "codec/jpeg/maker_testing.h"
#include "codec/nvjpeg/fake_testing.h"
#include "codec/nvjpeg/nvjpeg.h"
#include "codec/testing.h"
#include "device/cuda/cuda.h"
#include "device/cuda/fake_testing.h"

namespace stoker::test {

struct Asked {
  File file;
  DecodeOptions options;
  Window window;  // rank 0: the whole picture
  DeviceDecodeOptions device;
};

class NvJpegTest : public testing::Test {
 protected:
  NvJpegTest() {
    fake::reset();
    fake::reset_nvjpeg();
    devices_ = find_cuda_devices();
    stream_ = device().make_stream("s");
    memory_ = std::make_shared<DeviceBudget>(device(), SIZE_MAX);
  }
  ~NvJpegTest() override {
    fake::cuda().waits = false;
    fake::run_all();
    stream_.reset();
    decoder_.reset();
    devices_.devices.clear();
    EXPECT_EQ(fake::nvjpeg().misuse, std::vector<std::string>{});
    EXPECT_EQ(fake::nvjpeg().alive.size(), 0u);
    EXPECT_EQ(fake::cuda().allocated.size(), 0u);
    EXPECT_EQ(fake::cuda().streams, 0);
    EXPECT_EQ(pool_.usage().in_use, 0u);
    EXPECT_EQ(memory_->in_use(), 0u);
  }

  Device& device() { return *devices_.devices[1]; }
  // Made at the first call, so that a test can set up the library before.
  DeviceDecoder& decoder() {
    if (!decoder_) {
      nvjpeg::FoundDecoder made = nvjpeg::make_decoder(memory_, fake::find_stand_in().opened);
      EXPECT_EQ(made.missing, "");
      decoder_ = std::move(made.decoder);
    }
    return *decoder_;
  }

  static DecodeRequest request_of(const Asked& a) {
    const EncodedImage image = peek(a.file, a.options);
    const Window window = a.window.begin.rank ? a.window : Window::all(image.type().shape);
    return {image, window, window, a.device};
  }
  std::unique_ptr<PreparedPicture> prepare(const Asked& a) {
    // The file's bytes are gone after prepare().
    Asked copy = a;
    auto p = decoder().prepare(request_of(copy), pool_);
    std::fill(copy.file.begin(), copy.file.end(), uint8_t{0});
    return p;
  }
  static File expected(const Asked& a) { return decode(a.file, a.options, request_of(a).window); }

  struct Batch {
    std::vector<std::unique_ptr<PreparedPicture>> pictures;
    std::vector<File> out;
    std::vector<DecodeJob> jobs;
    std::vector<size_t> refused;
  };
  Batch prepare_all(const std::vector<Asked>& all) {
    Batch b;
    for (const Asked& a : all) {
      const DecodeRequest r = request_of(a);
      b.pictures.push_back(prepare(a));
      EXPECT_NE(b.pictures.back(), nullptr);
      b.out.emplace_back(static_cast<size_t>(r.window.shape().volume()));
      b.jobs.push_back(
          {b.pictures.back().get(), View::window(b.out.back().data(), DType::kUint8, r.window,
                                                 r.image.type().shape, "HWC")});
    }
    return b;
  }
  Batch decode_all(const std::vector<Asked>& all) {
    Batch b = prepare_all(all);
    b.refused = decoder().decode(*stream_, b.jobs);
    stream_->synchronize();
    return b;
  }
  void expect_the_cpus(const std::vector<Asked>& all) {
    const Batch b = decode_all(all);
    EXPECT_TRUE(b.refused.empty());
    for (size_t i = 0; i < all.size(); ++i)
      EXPECT_TRUE(b.out[i] == expected(all[i])) << "picture " << i;
  }

  static DeviceDecodeOptions with_share(float share) {
    DeviceDecodeOptions o;
    o.hardware_share = share;
    return o;
  }

  HostPool pool_;
  CudaFound devices_;
  std::shared_ptr<const DeviceBudget> memory_;
  std::unique_ptr<DeviceDecoder> decoder_;
  std::unique_ptr<Stream> stream_;
};

}  // namespace stoker::test
