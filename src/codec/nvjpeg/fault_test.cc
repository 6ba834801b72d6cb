// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What goes wrong around nvJPEG: a library that is missing or too old, and errors of every call.
#include <cstdlib>

#include "codec/nvjpeg/testing.h"

namespace stoker::test {
namespace {

using nvjpeg::kExecutionFailed;

class NvJpegFaults : public NvJpegTest {
 protected:
  static const Asked& hybrid() {
    static const Asked a{make_jpeg({.width = 50, .height = 40}), {}, {}, with_share(0)};
    return a;
  }
  static const Asked& hardware() {
    static const Asked a{make_jpeg({.width = 50, .height = 40, .seed = 2}), {}, {}, with_share(1)};
    return a;
  }
  static void fail(const char* function, nvjpeg::Status status = kExecutionFailed) {
    fake::nvjpeg().errors[function] = {status};
  }
};

TEST_F(NvJpegFaults, AFunctionThatIsMissingIsNamed) {
  fake::nvjpeg().absent = {"nvjpegDecodeBatchedEx"};
  const nvjpeg::FoundLibrary found = fake::find_stand_in();
  EXPECT_EQ(found.opened, nullptr);
  EXPECT_EQ(found.missing,
            "the stand-in has no function nvjpegDecodeBatchedEx; nvJPEG 12.1.0 or newer is needed");
}

TEST_F(NvJpegFaults, AnOldLibraryIsRefused) {
  fake::nvjpeg().version[0] = 12;
  fake::nvjpeg().version[1] = 0;
  fake::nvjpeg().version[2] = 4;
  EXPECT_EQ(fake::find_stand_in().missing,
            "the stand-in is nvJPEG 12.0.4; nvJPEG 12.1.0 or newer is needed");
  fake::nvjpeg().version[1] = 1;
  EXPECT_NE(fake::find_stand_in().opened, nullptr);
  fail("nvjpegGetProperty");
  EXPECT_EQ(fake::find_stand_in().missing,
            "the stand-in does not tell its version; nvJPEG 12.1.0 or newer is needed");
}

TEST_F(NvJpegFaults, APlaceThatIsNamedAndEmpty) {
  setenv("STOKER_NVJPEG", "/nowhere/libnvjpeg.so.13", 1);
  const nvjpeg::FoundLibrary found = nvjpeg::open_library({});
  unsetenv("STOKER_NVJPEG");
  EXPECT_EQ(found.opened, nullptr);
  EXPECT_EQ(found.missing.find("STOKER_NVJPEG names a library that does not open: /nowhere/"), 0u)
      << found.missing;
}

TEST_F(NvJpegFaults, ALibraryOfSomethingElse) {
  setenv("STOKER_NVJPEG", "libc.so.6", 1);
  EXPECT_EQ(nvjpeg::open_library({}).missing,
            "libc.so.6 has no function nvjpegGetProperty; nvJPEG 12.1.0 or newer is needed");
  unsetenv("STOKER_NVJPEG");
}

TEST_F(NvJpegFaults, SaysWhereItLooked) {
  EXPECT_EQ(nvjpeg::system_names(),
            (std::vector<std::string>{"libnvjpeg.so.13", "libnvjpeg.so.12"}));
  // No system has libraries of these names.
  EXPECT_EQ(
      nvjpeg::open_library({"/packages"}, {"libabsent.so.13", "libabsent.so.12"}).missing,
      "no nvJPEG was found (looked for libabsent.so.13, libabsent.so.12, "
      "/packages/nvidia/cu13/lib/libnvjpeg.so.13, /packages/nvidia/nvjpeg/lib/libnvjpeg.so.12; "
      "the environment variable STOKER_NVJPEG names another place); nvJPEG 12.1.0 or newer is "
      "needed");
}

TEST_F(NvJpegFaults, ALibraryThatDoesNotStartIsNoDecoder) {
  fail("nvjpegCreateExV2");
  const nvjpeg::FoundDecoder made = nvjpeg::make_decoder(memory_, fake::find_stand_in().opened);
  EXPECT_EQ(made.decoder, nullptr);
  EXPECT_EQ(made.missing, "nvJPEG 13.3.0 (the stand-in) does not start on cuda:1: its status is 6");
}

TEST_F(NvJpegFaults, APictureThatFailsInPrepareIsTheCpus) {
  for (const char* function :
       {"nvjpegJpegStreamCreate", "nvjpegDecodeParamsCreate", "nvjpegBufferPinnedCreateV2",
        "nvjpegDecodeParamsSetOutputFormat", "nvjpegDecodeParamsSetROI", "nvjpegJpegStreamParse",
        "nvjpegDecoderJpegSupported", "nvjpegDecoderStateCreate", "nvjpegStateAttachPinnedBuffer",
        "nvjpegDecodeJpegHost"}) {
    decoder_.reset();  // so that its objects are made again
    (void)decoder();
    fail(function);
    EXPECT_EQ(prepare(hybrid()), nullptr) << function;
    EXPECT_TRUE(fake::nvjpeg().errors[function].empty()) << function;
    expect_the_cpus({hybrid()});
  }
  fail("nvjpegBufferPinnedRetrieve");
  EXPECT_EQ(prepare(hybrid()), nullptr);
  for (const char* function :
       {"nvjpegJpegStreamCreate", "nvjpegDecodeParamsCreate", "nvjpegDecodeParamsSetROI",
        "nvjpegJpegStreamParse", "nvjpegDecodeBatchedSupportedEx"}) {
    decoder_.reset();
    (void)decoder();
    fail(function);
    EXPECT_EQ(prepare(hardware()), nullptr) << function;
    expect_the_cpus({hardware()});
  }
}

TEST_F(NvJpegFaults, WhatNvJpegFailedOnIsNotUsedAgain) {
  for (const Asked* asked : {&hybrid(), &hardware()})
    for (const char* function : {"nvjpegJpegStreamParse", "nvjpegDecodeJpegHost",
                                 "nvjpegDecodeJpegDevice", "nvjpegDecodeBatchedEx"}) {
      decoder_.reset();
      Batch b = prepare_all({*asked});
      fail(function);
      const bool has_failed = !prepare(*asked) || !decoder().decode(*stream_, b.jobs).empty();
      EXPECT_EQ(has_failed, fake::nvjpeg().errors[function].empty()) << function;
      stream_->synchronize();
      b.pictures.clear();
      auto destroyed = [&] {
        return fake::nvjpeg().calls["nvjpegJpegStreamDestroy"] +
               fake::nvjpeg().calls["nvjpegJpegStateDestroy"];
      };
      fake::nvjpeg().errors[function].clear();
      const int before = destroyed();
      expect_the_cpus({*asked, *asked});
      EXPECT_EQ(destroyed() > before, has_failed) << function;
    }
}

// Freeing objects waits for the stream, which may be about to give other objects back.
TEST_F(NvJpegFaults, NothingWaitsForTheDeviceWhileItGivesBack) {
  expect_the_cpus({hybrid(), hardware()});
  Batch b = prepare_all({hybrid(), hardware()});
  const Asked large{make_jpeg({.width = 4000, .height = 3000}), {}, {}, with_share(0)};
  (void)prepare(large);
  fake::cuda().waits = true;
  EXPECT_TRUE(decoder().decode(*stream_, b.jobs).empty());
  b.pictures.clear();
  decoder().trim();
  EXPECT_GT(fake::cuda().count("cudaFreeHost 1"), 0);
}

TEST_F(NvJpegFaults, APictureThatFailsOnTheDeviceIsRefusedAlone) {
  for (const char* function : {"nvjpegStateAttachDeviceBuffer", "nvjpegBufferDeviceCreateV2",
                               "nvjpegDecodeJpegTransferToDevice", "nvjpegDecodeJpegDevice"}) {
    decoder_.reset();
    const Batch b0 = prepare_all({hybrid(), hybrid(), hardware()});
    fail(function);
    EXPECT_EQ(decoder().decode(*stream_, b0.jobs), std::vector<size_t>{0}) << function;
    stream_->synchronize();
    EXPECT_TRUE(b0.out[1] == expected(hybrid()));
    EXPECT_TRUE(b0.out[2] == expected(hardware()));
    EXPECT_TRUE(decoder().decode(*stream_, b0.jobs).empty()) << "it may be asked for again";
  }
}

TEST_F(NvJpegFaults, OfABatchOnlyTheDamagedPictureIsRefused) {
  File damaged = hardware().file;
  damaged.erase(damaged.end() - 300, damaged.end() - 2);
  const std::vector<Asked> all = {
      hardware(), {damaged, {}, {}, with_share(1)}, hardware(), hybrid()};
  Batch b = prepare_all(all);
  EXPECT_EQ(decoder().decode(*stream_, b.jobs), std::vector<size_t>{1});
  stream_->synchronize();
  for (size_t i : {0, 2, 3}) EXPECT_TRUE(b.out[i] == expected(all[i]));
  for (const char* function :
       {"nvjpegDecodeBatchedInitialize", "nvjpegDecodeBatchedEx", "nvjpegJpegStateCreate"}) {
    decoder_.reset();
    Batch one = prepare_all({hardware()});
    fail(function);
    EXPECT_EQ(decoder().decode(*stream_, one.jobs), std::vector<size_t>{0}) << function;
  }
}

TEST_F(NvJpegFaults, WantOfMemoryIsForLaterAndNoChangeOfDecoder) {
  (void)decoder();
  // Pinning is tried with a slab and with less, twice, and all of that again without idle objects.
  fake::cuda().errors["cudaHostAlloc 1"].assign(8, cudaErrorMemoryAllocation);
  try {
    (void)prepare(hybrid());
    ADD_FAILURE() << "it was prepared";
  } catch (const Starved& s) {
    EXPECT_NE(s.why.find("no memory for nvJPEG"), std::string::npos) << s.why;
  }
  Batch b = prepare_all({hybrid(), hardware()});
  fake::cuda().errors["cudaMallocFromPoolAsync"] = {cudaErrorMemoryAllocation};
  EXPECT_THROW((void)decoder().decode(*stream_, b.jobs), BudgetError);
  EXPECT_TRUE(decoder().decode(*stream_, b.jobs).empty());
  stream_->synchronize();
  EXPECT_TRUE(b.out[0] == expected(hybrid()));
  EXPECT_TRUE(b.out[1] == expected(hardware()));
}

TEST_F(NvJpegFaults, ForWantOfPageLockedMemoryWhatIsIdleIsGivenBack) {
  expect_the_cpus({hybrid(), hybrid(), hybrid()});
  const int before = fake::nvjpeg().calls["nvjpegBufferPinnedDestroy"];
  const Asked larger{make_jpeg({.width = 4000, .height = 3000}), {}, {}, with_share(0)};
  fake::cuda().errors["cudaHostAlloc 1"].assign(4, cudaErrorMemoryAllocation);
  expect_the_cpus({larger});
  EXPECT_EQ(fake::nvjpeg().calls["nvjpegBufferPinnedDestroy"], before + 3);
}

// What was enqueued before the memory ran out is still running; its objects come back after it.
TEST_F(NvJpegFaults, WhatFailsHalfWayStrandsNothing) {
  const Asked larger{make_jpeg({.width = 90, .height = 80}), {}, {}, with_share(0)};
  Batch b = prepare_all({hybrid(), hardware(), larger});
  fake::cuda().waits = true;
  fake::cuda().errors["cudaMallocFromPoolAsync"] = {cudaSuccess, cudaSuccess, cudaSuccess,
                                                    cudaErrorMemoryAllocation};
  EXPECT_THROW((void)decoder().decode(*stream_, b.jobs), BudgetError);
  EXPECT_EQ(fake::nvjpeg().decoded.size(), 2u);
  EXPECT_TRUE(decoder().decode(*stream_, b.jobs).empty()) << "it may be asked for again";
  b.pictures.clear();
  EXPECT_GT(pool_.usage().in_use, 0u) << "the stream is to read them yet";
  stream_->synchronize();
  EXPECT_EQ(pool_.usage().in_use, 0u);
  EXPECT_TRUE(b.out[0] == expected(hybrid()));
  EXPECT_TRUE(b.out[1] == expected(hardware()));
  EXPECT_TRUE(b.out[2] == expected(larger));
}

TEST_F(NvJpegFaults, MemoryOfTheDeviceIsTheBudgets) {
  fake::nvjpeg().version[1] = 2;
  Asked window = hybrid();
  window.window = {{1, 2, 0}, {9, 20, 3}};  // decoded as a whole, into memory of the stream
  const size_t whole = size_t{50} * 40 * 3, beside = 6144;  // the sizes, rounded up
  memory_ = std::make_shared<DeviceBudget>(device(), beside + whole - 1);
  Batch b = prepare_all({window, hybrid()});
  EXPECT_THROW((void)decoder().decode(*stream_, b.jobs), BudgetError);
  EXPECT_EQ(device().usage().in_use, memory_->in_use());
  decoder_.reset();
  memory_ = std::make_shared<DeviceBudget>(device(), beside + whole);
  expect_the_cpus({window, hybrid()});
  EXPECT_EQ(memory_->high_water(), beside + whole);
  EXPECT_EQ(memory_->in_use(), whole) << "the buffer that the stream's pictures share";
  EXPECT_EQ(device().usage().in_use, whole);
}

TEST_F(NvJpegFaults, AFailureOfTheDeviceIsThrown) {
  fake::nvjpeg().version[1] = 2;
  Asked window = hybrid();
  window.window = {{1, 2, 0}, {9, 20, 3}};
  Batch b = prepare_all({window});
  fake::cuda().errors["cudaMemcpy2DAsync 3"] = {cudaErrorInvalidValue};
  try {
    (void)decoder().decode(*stream_, b.jobs);
    ADD_FAILURE() << "no error";
  } catch (const DeviceError& e) {
    EXPECT_STREQ(e.what(),
                 "cuda:1, copy 'window' on stream 's': it failed (cudaErrorOfTheStandIn)");
  }
  for (int refusals : {1, 2}) {
    fake::cuda().errors["cudaLaunchHostFunc"].assign(refusals, cudaErrorInvalidValue);
    fake::cuda().waits = true;
    EXPECT_THROW((void)decoder().decode(*stream_, b.jobs), DeviceError);
    EXPECT_EQ(fake::cuda().count("cudaStreamSynchronize 1"), refusals - 1)
        << "the stream takes nothing any more, so it is waited for";
    fake::run_all();
  }
  b.pictures.clear();
  EXPECT_EQ(pool_.usage().in_use, 0u);
}

}  // namespace
}  // namespace stoker::test
