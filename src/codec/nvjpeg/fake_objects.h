// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The objects of the stand-in for nvJPEG. All but an instance are for one thread at a time.
#pragma once
#include <atomic>

#include "codec/nvjpeg/fake_testing.h"
#include "codec/testing.h"

namespace stoker::fake::objects {

using namespace stoker::nvjpeg;

struct Instance {
  static constexpr const char* kKind = "instance";
  Backend backend = kDefaultBackend;
  unsigned flags = 0;
  Allocator device = {}, pinned = {};
  std::atomic<int> users{0};
};

struct Memory {
  Allocator allocator = {};
  void* data = nullptr;
  size_t size = 0;
  std::atomic<int> in_flight{0};

  bool grow(size_t bytes, cudaStream_t stream) {
    if (bytes <= size) return true;
    free(stream);
    if (allocator.allocate(allocator.context, &data, bytes, stream) != 0) return false;
    size = bytes;
    return true;
  }
  void free(cudaStream_t stream) {
    if (data) allocator.free(allocator.context, data, size, stream);
    data = nullptr;
    size = 0;
  }
};
struct Pinned : Memory {
  static constexpr const char* kKind = "pinned buffer";
};
struct OnDevice : Memory {
  static constexpr const char* kKind = "device buffer";
  cudaStream_t stream = nullptr;  // the stream that uses it
};

struct Bitstream {
  static constexpr const char* kKind = "bitstream";
  Instance* instance = nullptr;
  test::File file;  // the file's bytes when they were parsed
  const unsigned char* data = nullptr;
  int frame = 0;  // marker of the frame header
  int channels = 0;
};
struct Params {
  static constexpr const char* kKind = "parameters";
  Instance* instance = nullptr;
  OutputFormat format = kRgbInterleaved;
  int roi[4] = {0, 0, -1, -1};
};
struct Decoder {
  static constexpr const char* kKind = "decoder";
  Instance* instance = nullptr;
  Backend backend = kDefaultBackend;
};
struct State {
  static constexpr const char* kKind = "state";
  Instance* instance = nullptr;
  Decoder* decoder = nullptr;  // null: a state for batches
  Pinned* pinned = nullptr;
  OnDevice* device = nullptr;
  Bitstream* bitstream = nullptr;
  DecodedPicture picture = {};
  size_t row = 0, rows = 0;
  bool is_decoded = false, is_transferred = false;
  std::atomic<int> in_flight{0};
  int batch = 0;
  OutputFormat format = kRgbInterleaved;
  OnDevice batch_memory;
};

}  // namespace stoker::fake::objects
