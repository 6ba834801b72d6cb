// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What pictures on their way through nvJPEG hold: Note [What pictures hold] of cuda_nvjpeg.h. One
// thread at a time, with the GPU current; they may end on any thread, also on a stream's.
#pragma once
#include "codec/nvjpeg/engine.h"
#include "codec/nvjpeg/wish.h"

namespace stoker::nvjpeg {

// One picture's, from prepare() until the stream has passed it.
struct Lease {
  std::shared_ptr<Engine> engine;
  std::shared_ptr<Buffer> bytes;  // the encoded picture
  std::shared_ptr<void> charge;  // for what the page-locked buffer holds
  std::unique_ptr<PictureObjects> objects;

  Lease(std::shared_ptr<Engine> e, std::unique_ptr<PictureObjects> o)
      : engine(std::move(e)), objects(std::move(o)) {}
  ~Lease() { engine->put(std::move(objects)); }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  const unsigned char* data() const {
    return reinterpret_cast<const unsigned char*>(bytes->data());
  }
  // Keeps the picture's bytes, and counts `more`. Throws Starved.
  void keep(EncodedSpan encoded, size_t more, HostPool& pool);
  // Of a call for this picture. Throws as nvjpeg::check().
  void check(Status status) const { nvjpeg::check(status, objects->is_spoilt); }
};

struct Prepared final : PreparedPicture {
  std::shared_ptr<Lease> lease;
  Wish wish;
  Backend backend = kHybrid;
  bool decodes_whole = false;  // though a window is wanted, which is copied from that
};

inline const Prepared& prepared(const DecodeJob& job) {
  return static_cast<const Prepared&>(*job.prepared);
}

// One call for the hardware engine.
struct HardwareBatch {
  std::shared_ptr<Engine> engine;
  OutputFormat format = kRgbInterleaved;
  std::unique_ptr<BatchObjects> objects;
  std::vector<const unsigned char*> data;
  std::vector<size_t> sizes;
  std::vector<Image> images;
  std::vector<ParamsHandle> params;

  HardwareBatch(std::shared_ptr<Engine> e, OutputFormat f)
      : engine(std::move(e)), format(f), objects(engine->take_batch_objects()) {}
  ~HardwareBatch() { engine->put(std::move(objects)); }
  HardwareBatch(const HardwareBatch&) = delete;
  HardwareBatch& operator=(const HardwareBatch&) = delete;

  // Memory for so many bytes: Note [Early writes]. Throws BudgetError, DeviceError.
  std::byte* room(Stream& stream, size_t bytes, const DeviceBudget& memory) const;
  // Of a call for this batch. Throws as nvjpeg::check().
  void check(Status status) const { nvjpeg::check(status, objects->is_spoilt); }
};

// Where nvJPEG writes a job's pixels: to their place, or to memory that they are copied from.
class Target {
 public:
  // `staging`: memory for bytes_of(job), or null.
  Target(Stream& stream, const DecodeJob& job, std::byte* staging);
  // That nvJPEG writes, up to where the next picture may begin.
  static size_t bytes_of(const DecodeJob& job);
  Image& image() { return image_; }
  // Enqueues the copy of what is wanted to its place, where that is another. Throws DeviceError.
  void finish() const;

 private:
  Stream& stream_;
  const DecodeJob& job_;
  const bool is_staged_;
  Image image_ = {};
};

// Throws BudgetError.
std::shared_ptr<DeviceBuffer> acquire(Stream& stream, size_t bytes, const DeviceBudget& memory);

}  // namespace stoker::nvjpeg
