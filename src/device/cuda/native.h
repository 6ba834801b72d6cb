// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What NVIDIA's own libraries need of a GPU behind device/device.h. Thread-safe.
#pragma once
#include <cuda_runtime_api.h>

#include "device/device.h"

namespace stoker {

// Work that is enqueued there is in the order of the stream's. Requires: a stream of such a device.
cudaStream_t native_stream(const Stream& stream);

}  // namespace stoker
