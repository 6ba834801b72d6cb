// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Batches in the memory of a device, lent to consumers that have streams of their own, or copied.
//
// Note [Lending]
// A consumer gets the bytes at once, before the device has made them: its stream waits for the
// batch's event, and the host does not. The consumer may let go long before its stream has read the
// bytes. So the stream that made them waits for what the consumer has enqueued until then, and the
// memory is used again only behind that. Neither side waits on the host, and the device holds no
// more than the prefetch depth allows, however far the host is ahead.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "batch/batch.h"

namespace stoker {

// The bytes of a device batch while a consumer holds them: Note [Lending]. A lease may end on any
// thread, also after the pipeline and its streams are gone.
class Lease {
 public:
  // `owner` holds the bytes, which are ready behind `batch.ready`. `stream` is where the consumer
  // works. A consumer without one keeps the order itself: it waits for the event and lets go only
  // when all of its work is done. Requires: the bytes are in the memory of the batch's device
  // (throws Error). Throws DeviceError: Note [Device errors].
  Lease(const DeviceBatch& batch, const std::shared_ptr<Buffer>& owner,
        std::optional<ForeignStream> stream);
  ~Lease();
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

 private:
  const std::shared_ptr<DeviceBuffer> owner_;
  const std::optional<ForeignStream> stream_;
};

// Pieces of a batch in the memory of a device, in the order in which they are wanted.
using Pieces = std::vector<std::span<const std::byte>>;

struct DeviceCopy {
  std::shared_ptr<Buffer> owner;
  std::shared_ptr<DeviceBatch> on_device;
};
// Copies the pieces one behind the other into new memory of their device. Waits until they are
// there. Throws DeviceError, BudgetError.
DeviceCopy copy_on_device(const DeviceBatch& batch, const Pieces& pieces);
// Copies the pieces to host memory at `to`, which has room for all. Throws DeviceError.
void copy_to_host(const DeviceBatch& batch, const Pieces& pieces, std::byte* to);

}  // namespace stoker
