// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/nvjpeg/picture.h"

#include <cstring>

#include "device/cuda/native.h"

namespace stoker::nvjpeg {

namespace {

size_t row_of(const DecodeJob& job) {
  const Prepared& p = prepared(job);
  return static_cast<size_t>(p.decodes_whole ? p.wish.width : p.wish.columns) * p.wish.channels;
}

}  // namespace

std::shared_ptr<DeviceBuffer> acquire(Stream& stream, size_t bytes, const DeviceBudget& memory) {
  if (auto buffer = memory.try_acquire(stream, bytes)) return buffer;
  throw BudgetError(stream.device().name() + ": no memory for " + in_words(bytes) +
                    " of pictures that are decoded beside their places");
}

void Lease::keep(EncodedSpan encoded, size_t more, HostPool& pool) {
  if (more) charge = pool.try_charge(more, Use::kOutput);
  if (charge || !more) bytes = pool.try_acquire(encoded.size(), Use::kOutput);
  if (!bytes) throw Starved{{}, size_class(encoded.size()) + more};
  std::memcpy(bytes->data(), encoded.data(), encoded.size());
}

std::byte* HardwareBatch::room(Stream& stream, size_t bytes, const DeviceBudget& memory) const {
  std::shared_ptr<DeviceBuffer>& pixels = objects->pixels;
  if (pixels && pixels->size() >= bytes) return pixels->data();
  pixels.reset();
  pixels = acquire(stream, bytes + bytes / 8, memory);  // the next pictures may be a little larger
  stream.synchronize();
  return pixels->data();
}

Target::Target(Stream& stream, const DecodeJob& job, std::byte* staging)
    : stream_(stream), job_(job), is_staged_(staging) {
  std::byte* const at = staging ? staging : job.out.as<std::byte>();
  image_ = {{reinterpret_cast<unsigned char*>(at)}, {row_of(job)}};
}

size_t Target::bytes_of(const DecodeJob& job) {
  constexpr size_t kAligned = 256;
  const Prepared& p = prepared(job);
  const size_t bytes =
      row_of(job) * static_cast<size_t>(p.decodes_whole ? p.wish.height : p.wish.rows);
  return (bytes + kAligned - 1) / kAligned * kAligned;
}

void Target::finish() const {
  if (!is_staged_) return;
  const Wish& w = prepared(job_).wish;
  const size_t row = static_cast<size_t>(w.columns) * w.channels;
  const size_t before = static_cast<size_t>(w.y) * image_.pitch[0] +
                        static_cast<size_t>(w.x) * static_cast<size_t>(w.channels);
  const unsigned char* const from = image_.channel[0] + (prepared(job_).decodes_whole ? before : 0);
  const cudaError_t e = cudaMemcpy2DAsync(job_.out.as<unsigned char>(), row, from, image_.pitch[0],
                                          row, static_cast<size_t>(w.rows),
                                          cudaMemcpyDeviceToDevice, native_stream(stream_));
  if (e == cudaSuccess) return;
  (void)cudaGetLastError();
  throw DeviceError(stream_.device().name() + ", copy 'window' on stream '" + stream_.name() +
                    "': " + cudaGetErrorString(e) + " (" + cudaGetErrorName(e) + ")");
}

}  // namespace stoker::nvjpeg
