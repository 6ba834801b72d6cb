// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/step/fetched_bytes.h"

#include <chrono>

namespace stoker {

std::span<const io::Part> FetchedBytes::take_sample(int reader, int64_t turn, int64_t index,
                                                    Arena& arena) {
  const auto start = std::chrono::steady_clock::now();
  const auto admit = [&](size_t size) { arena.charge(size); };
  io::Fetcher& fetcher = *fetchers_[reader];
  std::optional<io::Fetched> fetched;
  if (turn >= 0) fetched = fetcher.take(turn, admit);
  // This is a replacement, or a ticket took the bytes and was given back for lack of memory.
  taken_[reader] = fetched ? std::move(*fetched) : fetcher.take_again(index, admit);
  wait_ns += std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
  bytes_read += static_cast<int64_t>(taken_[reader].size());
  return taken_[reader].parts;
}

std::shared_ptr<Buffer> FetchedBytes::owner(const View& v) const {
  for (const io::Fetched& f : taken_)
    if (const auto& owner = f.bytes.owner();
        owner && v.data >= owner->data() && v.data < owner->data() + owner->size())
      return owner;
  return nullptr;
}

}  // namespace stoker
