// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "batch/export.h"

#include "base/error.h"
#include "memory/pool.h"

namespace stoker {

namespace {

std::shared_ptr<DeviceBuffer> device_memory(const DeviceBatch& batch,
                                            const std::shared_ptr<Buffer>& owner) {
  auto memory = std::dynamic_pointer_cast<DeviceBuffer>(owner);
  if (!memory)
    throw Error("a batch of " + batch.device->name() +
                " was to be lent, and its bytes are in host memory");
  return memory;
}

void copy_pieces(Stream& stream, const Pieces& pieces, std::byte* to, Copy direction) {
  for (const auto& piece : pieces) {
    stream.copy(to, piece.data(), piece.size(), direction, "copy of a batch");
    to += piece.size();
  }
  stream.synchronize();
}

}  // namespace

Lease::Lease(const DeviceBatch& batch, const std::shared_ptr<Buffer>& owner,
             std::optional<ForeignStream> stream)
    : owner_(device_memory(batch, owner)), stream_(stream) {
  naming_step(batch.step, [&] {
    batch.device->check();
    batch.ready->check();
    if (stream_) batch.ready->hold_back(*stream_);
  });
}

Lease::~Lease() {
  if (stream_) owner_->return_behind(*stream_);
}

DeviceCopy copy_on_device(const DeviceBatch& batch, const Pieces& pieces) {
  size_t bytes = 0;
  for (const auto& piece : pieces) bytes += piece.size();
  const auto stream = batch.device->make_stream("copy of a batch");
  stream->wait(*batch.ready);
  DeviceCopy copy{stream->try_acquire(bytes), std::make_shared<DeviceBatch>()};
  if (!copy.owner) {
    const DeviceUsage usage = batch.device->usage();
    throw BudgetError(batch.device->name() + ": no memory for a copy of " + in_words(bytes) +
                      " of a batch; " + in_words(usage.in_use) + " of " + in_words(usage.limit) +
                      " are in use");
  }
  naming_step(batch.step,
              [&] { copy_pieces(*stream, pieces, copy.owner->data(), Copy::kOnDevice); });
  copy.on_device->device = batch.device;
  copy.on_device->step = batch.step;
  copy.on_device->ready = batch.device->make_event();
  stream->record(*copy.on_device->ready);
  return copy;
}

void copy_to_host(const DeviceBatch& batch, const Pieces& pieces, std::byte* to) {
  const auto stream = batch.device->make_stream("copy of a batch");
  stream->wait(*batch.ready);
  naming_step(batch.step, [&] { copy_pieces(*stream, pieces, to, Copy::kToHost); });
}

}  // namespace stoker
