// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "codec/plain_jpeg/entropy_indexes.h"
#include "run/affinity.h"
#include "run/options.h"

namespace stoker {

// The settings in use, and what follows from them.
struct ExecutorOptions {
  // Nothing is left to decide: batch_size, num_threads, io_threads, seed and memory_limit are set.
  PipelineOptions settings;
  int device_id = 0;  // of the device stage
  // In bytes: Note [Shares of the budget] (run/memory_shares.h).
  size_t output_limit = 0, scratch_limit = 0, read_ahead_limit = 0, device_limit = SIZE_MAX;
  EntropyIndexes* jpeg_indexes = nullptr;  // outlives the executor
  std::vector<Cpus> worker_cpus;  // where workers run: Affinity::cpus
};

}  // namespace stoker
