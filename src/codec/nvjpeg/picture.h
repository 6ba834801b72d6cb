// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What pictures hold on their way through nvJPEG: Note [What pictures hold] of nvjpeg.h. Used with
// the GPU current, but destroyed by any thread, also one that runs a stream's host calls.
#pragma once
#include "codec/nvjpeg/engine.h"
#include "codec/nvjpeg/wish.h"

namespace stoker::nvjpeg {

// What one picture holds from prepare() until the stream has passed it.
struct Lease {
  std::shared_ptr<Engine> engine;
  std::shared_ptr<Buffer> bytes;  // the encoded picture
  std::shared_ptr<void> charge;  // counts what the pinned buffer holds
  std::unique_ptr<PictureObjects> objects;

  Lease(std::shared_ptr<Engine> e, std::unique_ptr<PictureObjects> o)
      : engine(std::move(e)), objects(std::move(o)) {}
  ~Lease() { engine->put(std::move(objects)); }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  const unsigned char* data() const {
    return reinterpret_cast<const unsigned char*>(bytes->data());
  }
  // Keeps the picture's bytes and counts `more` bytes. Throws Starved.
  void keep(EncodedSpan encoded, size_t more, HostPool& pool);
  void check(Status status) const { nvjpeg::check(status, objects->is_spoilt); }
};

struct Prepared final : PreparedPicture {
  std::shared_ptr<Lease> lease;
  Wish wish;
  Backend backend = kHybrid;
  bool decodes_whole = false;  // although a window is wanted, which is then copied
};

inline const Prepared& prepared(const DecodeJob& job) {
  return static_cast<const Prepared&>(*job.prepared);
}

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

  // Returns memory for `bytes` bytes: Note [Early writes]. Throws BudgetError, DeviceError.
  std::byte* room(Stream& stream, size_t bytes, const DeviceBudget& memory) const;
  void check(Status status) const { nvjpeg::check(status, objects->is_spoilt); }
};

// Where nvJPEG writes a job's pixels: to their place, or to memory from which they are copied.
class Target {
 public:
  // `staging` is memory for bytes_of(job), or null.
  Target(Stream& stream, const DecodeJob& job, std::byte* staging);
  // The bytes that nvJPEG writes, up to where the next picture may begin.
  static size_t bytes_of(const DecodeJob& job);
  Image& image() { return image_; }
  // Enqueues the copy, if there is one. Throws DeviceError.
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
