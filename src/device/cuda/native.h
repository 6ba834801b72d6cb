// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cuda_runtime_api.h>

#include "device/device.h"

namespace stoker {

// The stream as NVIDIA's own libraries want it. Work that is enqueued on it runs in the stream's
// order. Requires: the stream is of device/cuda. Thread-safe.
cudaStream_t native_stream(const Stream& stream);

}  // namespace stoker
