// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/call/call_memory.h"

#include <unistd.h>

#include "io/origin.h"
#include "run/affinity.h"
#include "run/machine.h"
#include "run/memory_shares.h"

namespace stoker {

namespace {

ExecutorOptions options_of_calls(int64_t limit) {
  ExecutorOptions e;
  PipelineOptions& o = e.settings;
  o.memory_limit = limit ? limit : static_cast<int64_t>(allowed_memory() / 2);
  o.num_threads = allowed_cpus(static_cast<int>(usable_cpus().size()));
  o.seed = 0;
  o.batch_size = 1;
  e.output_limit = MemoryShares::kBatches.of(o.memory_limit);
  e.scratch_limit = MemoryShares::kScratch.of(o.memory_limit);
  e.read_ahead_limit = MemoryShares::kAhead.of(o.memory_limit);
  return e;
}

}  // namespace

CallMemory::CallMemory(int64_t limit)
    : owner_(getpid()),
      options_(options_of_calls(limit)),
      pool_(options_.output_limit),
      indexes_(std::min(static_cast<size_t>(options_.settings.jpeg_index_limit),
                        options_.read_ahead_limit / 4)) {
  options_.jpeg_indexes = &indexes_;
}

bool CallMemory::try_keep(size_t bytes) {
  const size_t most = std::min(kMostKept, options_.scratch_limit);
  size_t kept = kept_;
  do {
    if (bytes > most || kept > most - bytes) return false;
  } while (!kept_.compare_exchange_weak(kept, kept + bytes));
  return true;
}

// The smallest that is large enough, or else the last one, which grows.
io::ByteBuffer CallMemory::take_spare(size_t bytes) {
  const MutexLock lock(mutex_);
  if (spare_.empty()) return {};
  size_t best = spare_.size() - 1;
  for (size_t i = 0; i < spare_.size(); ++i) {
    const size_t size = spare_[i].capacity(), found = spare_[best].capacity();
    if (size >= bytes && (found < bytes || size < found)) best = i;
  }
  io::ByteBuffer found = std::move(spare_[best]);
  spare_.erase(spare_.begin() + static_cast<std::ptrdiff_t>(best));
  return found;
}

void CallMemory::keep_spare(io::ByteBuffer buffer) {
  if (buffer.capacity() == 0 || buffer.capacity() > kLargestSpare) return;
  if (getpid() != owner_) return;  // a thread of the parent may have held the lock
  io::ByteBuffer gone;
  const MutexLock lock(mutex_);
  spare_.push_back(std::move(buffer));
  if (spare_.size() <= kSpareBuffers) return;
  gone = std::move(spare_.front());
  spare_.erase(spare_.begin());
}

std::shared_ptr<const io::ByteBuffer> CallMemory::read(const std::string& path) {
  const std::shared_ptr<const io::Object> file = io::open(path);
  if (static_cast<size_t>(file->size()) > options_.read_ahead_limit)
    throw SampleError("'" + path + "' has " + in_words(static_cast<size_t>(file->size())) +
                      "; a file that is read may take " + in_words(options_.read_ahead_limit) +
                      ", " + MemoryShares::kAhead.in_words());
  auto* bytes = new io::ByteBuffer(take_spare(static_cast<size_t>(file->size())));
  const std::shared_ptr<io::ByteBuffer> read(bytes,
                                             [memory = shared_from_this()](io::ByteBuffer* b) {
                                               memory->keep_spare(std::move(*b));
                                               delete b;
                                             });
  file->read(*read);
  return read;
}

}  // namespace stoker
