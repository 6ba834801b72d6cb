// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Codec of LZ4, by liblz4 (liblz4-dev).
//
// Both a block without any header and frames are read. A frame begins with bytes that no block can
// begin with: a match that reaches back before the first byte.
#include <lz4.h>
#include <lz4frame.h>

#include <memory>
#include <string>

#include "base/error.h"
#include "codec/inflate/inflate.h"

namespace stoker {
namespace {

constexpr size_t kMostInput = LZ4_MAX_INPUT_SIZE;

bool is_frame(EncodedSpan bytes) {
  return bytes.size() >= 4 && bytes[0] == 0x04 && bytes[1] == 0x22 && bytes[2] == 0x4D &&
         bytes[3] == 0x18;
}

size_t inflate_block(EncodedSpan bytes, std::span<uint8_t> out) {
  if (bytes.size() > kMostInput || out.size() > kMostInput)
    throw SampleError("an LZ4 block of " + std::to_string(bytes.size()) + " bytes for " +
                      std::to_string(out.size()) + ", expected " + std::to_string(kMostInput) +
                      " at most");
  const auto size = [](auto s) { return static_cast<int>(s.size()); };
  const int made = LZ4_decompress_safe(reinterpret_cast<const char*>(bytes.data()),
                                       reinterpret_cast<char*>(out.data()), size(bytes), size(out));
  if (made >= 0) return static_cast<size_t>(made);
  // The library does not tell damage from too much. So far there was no damage, if there is an end.
  throw SampleError(
      "LZ4 data is damaged, or holds more than " + std::to_string(out.size()) + " bytes",
      -made - 1);
}

size_t inflate_frames(EncodedSpan bytes, std::span<uint8_t> out) {
  LZ4F_dctx* made = nullptr;
  if (LZ4F_isError(LZ4F_createDecompressionContext(&made, LZ4F_VERSION)))
    throw BudgetError("no memory to decompress LZ4");
  const std::unique_ptr<LZ4F_dctx, decltype(&LZ4F_freeDecompressionContext)> context(
      made, LZ4F_freeDecompressionContext);
  size_t at = 0, filled = 0, expected = 0;
  while (at < bytes.size()) {
    size_t read = bytes.size() - at, written = out.size() - filled;
    uint8_t more = 0;
    const bool is_full = written == 0;
    if (is_full) written = 1;
    expected = LZ4F_decompress(context.get(), is_full ? &more : out.data() + filled, &written,
                               bytes.data() + at, &read, nullptr);
    if (LZ4F_isError(expected))
      throw SampleError("LZ4 data is damaged: " + std::string(LZ4F_getErrorName(expected)),
                        static_cast<int64_t>(at));
    if (is_full && written) return out.size() + 1;
    filled += written;
    at += read;
    if (read == 0 && written == 0) break;
  }
  if (expected != 0)
    throw SampleError("LZ4 data ends too soon", static_cast<int64_t>(bytes.size()));
  return filled;
}

class Lz4Codec final : public Inflater {
 public:
  size_t inflate(Compression, EncodedSpan bytes, std::span<uint8_t> out,
                 Arena& scratch) const override {
    if (!is_frame(bytes)) return inflate_block(bytes, out);
    scratch.charge(kFrameMemory);
    return inflate_frames(bytes, out);
  }

 private:
  static constexpr size_t kFrameMemory = size_t{9} << 20;  // two blocks of 4 MiB and a window
};

}  // namespace
}  // namespace stoker

STOKER_INFLATER(stoker::Lz4Codec)
