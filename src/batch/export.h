// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Batches in the memory of a device, given to consumers that have streams of their own, or copied.
// Free functions are thread-safe.
//
// Note [Lending]
// A consumer gets the bytes at once, before the device has made them: its stream waits for the
// batch's event, the host does not. When it lets go, which may be long before its stream has read
// them, the stream that made them waits for what the consumer had enqueued until then; the memory
// goes back behind that. So neither side ever waits on the host, and what the device holds stays
// what the prefetch depth allows, however far the host is ahead.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "batch/batch.h"

namespace stoker {

// Bytes of a device batch in a consumer's hands: Note [Lending]. May end on any thread, also when
// pipeline and streams are gone.
class Lease {
 public:
  // `owner` holds the bytes, which are ready behind `batch.ready`; `stream` is where the consumer
  // works. Without one the consumer keeps the order itself: it waits for the event, and lets go
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

// Pieces of a batch in a device's memory, in the order in which they are wanted.
using Pieces = std::vector<std::span<const std::byte>>;

struct DeviceCopy {
  std::shared_ptr<Buffer> owner;
  std::shared_ptr<DeviceBatch> on_device;
};
// The pieces one behind the other in new memory of their device. Waits until they are there. Throws
// DeviceError, BudgetError.
DeviceCopy copy_on_device(const DeviceBatch& batch, const Pieces& pieces);
// The same in host memory: to `to`, which has room for all. Throws DeviceError.
void copy_to_host(const DeviceBatch& batch, const Pieces& pieces, std::byte* to);

}  // namespace stoker
