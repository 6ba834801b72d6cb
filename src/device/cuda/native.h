// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What NVIDIA's own libraries need of a GPU behind device/device.h. Thread-safe.
#pragma once
#include <cuda_runtime_api.h>

#include "device/device.h"

namespace stoker {

// Work that is enqueued on it runs in the stream's order. Requires: the stream is of such a device.
cudaStream_t native_stream(const Stream& stream);

}  // namespace stoker
