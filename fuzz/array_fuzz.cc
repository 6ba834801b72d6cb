// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Takes any bytes for the header of a NumPy array, or for compressed data. The first byte chooses
// which, the second one the room for what is decompressed, and the rest is the file.
#include <vector>

#include "codec/arrays/npy.h"
#include "codec/inflate/inflate.h"
#include "refusals.h"

namespace stoker {
namespace {

void take(EncodedSpan file, uint8_t kind, uint8_t room) {
  constexpr uint8_t kCompressions = 5;
  if (kind % (kCompressions + 1) == kCompressions) {
    const NpyHeader header = read_npy_header(file);
    if (header.data_at > file.size() || header.data_bytes() < 0) std::abort();
    return;
  }
  const auto compression = static_cast<Compression>(kind % (kCompressions + 1));
  std::vector<uint8_t> out(size_t{room} * 64);
  Arena scratch;
  if (inflater_of(compression).inflate(compression, file, out, scratch) > out.size() + 1)
    std::abort();
}

}  // namespace
}  // namespace stoker

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kChoices = 2;
  if (size < kChoices) return 0;
  const std::vector<uint8_t> file(data + kChoices, data + size);
  try {
    stoker::take(file, data[0], data[1]);
  } catch (const stoker::SampleError& e) {
    stoker::fuzz::check_refusal(e, file);
  }
  return 0;
}
