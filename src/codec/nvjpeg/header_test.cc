// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares api.h with nvJPEG's own header and library.
#include <gtest/gtest.h>

#include <cstddef>

#include <nvjpeg.h>

#include "codec/nvjpeg/library.h"
#include "device/same_call_testing.h"

namespace stoker::nvjpeg {
namespace {

#define STOKER_NVJPEG_SAME(member, name, parameters) \
  static_assert(SameCall<decltype(Functions::member), decltype(&::name)>::value, #name);
STOKER_NVJPEG_FUNCTIONS(STOKER_NVJPEG_SAME)
#undef STOKER_NVJPEG_SAME

static_assert(kSuccess == int{NVJPEG_STATUS_SUCCESS});
static_assert(kInvalidParameter == int{NVJPEG_STATUS_INVALID_PARAMETER});
static_assert(kBadJpeg == int{NVJPEG_STATUS_BAD_JPEG});
static_assert(kNotSupported == int{NVJPEG_STATUS_JPEG_NOT_SUPPORTED});
static_assert(kAllocatorFailure == int{NVJPEG_STATUS_ALLOCATOR_FAILURE});
static_assert(kExecutionFailed == int{NVJPEG_STATUS_EXECUTION_FAILED});
static_assert(kArchMismatch == int{NVJPEG_STATUS_ARCH_MISMATCH});
static_assert(kDefaultBackend == int{NVJPEG_BACKEND_DEFAULT});
static_assert(kHybrid == int{NVJPEG_BACKEND_HYBRID});
static_assert(kGpuHybrid == int{NVJPEG_BACKEND_GPU_HYBRID});
static_assert(kHardware == int{NVJPEG_BACKEND_HARDWARE});
static_assert(kY == int{NVJPEG_OUTPUT_Y});
static_assert(kRgbInterleaved == int{NVJPEG_OUTPUT_RGBI});
static_assert(kBgrInterleaved == int{NVJPEG_OUTPUT_BGRI});
static_assert(kStrictFlag == NVJPEG_FLAGS_BITSTREAM_STRICT);
static_assert(kInterpolateFlag == (NVJPEG_FLAGS_UPSAMPLING_WITH_INTERPOLATION));
static_assert(sizeof(Image) == sizeof(nvjpegImage_t));
static_assert(offsetof(Image, pitch) == offsetof(nvjpegImage_t, pitch));
static_assert(sizeof(Allocator) == sizeof(nvjpegDevAllocatorV2_t));
static_assert(offsetof(Allocator, free) == offsetof(nvjpegDevAllocatorV2_t, dev_free));
static_assert(offsetof(Allocator, context) == offsetof(nvjpegDevAllocatorV2_t, dev_ctx));
static_assert(sizeof(Allocator) == sizeof(nvjpegPinnedAllocatorV2_t));
static_assert(offsetof(Allocator, context) == offsetof(nvjpegPinnedAllocatorV2_t, pinned_ctx));

TEST(NvJpegHeader, TheLibraryHasAllFunctions) {
  setenv("STOKER_NVJPEG", STOKER_NVJPEG_LIBRARY, 1);
  const FoundLibrary found = open_library({});
  unsetenv("STOKER_NVJPEG");
  ASSERT_NE(found.opened, nullptr) << found.missing;
  EXPECT_EQ(found.opened->version, (Version{NVJPEG_VER_MAJOR, NVJPEG_VER_MINOR, NVJPEG_VER_PATCH}));
}

}  // namespace
}  // namespace stoker::nvjpeg
