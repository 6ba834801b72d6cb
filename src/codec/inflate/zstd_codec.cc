// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Codec of zstd, by libzstd (libzstd-dev).
#include <zstd.h>
#include <zstd_errors.h>

#include <memory>
#include <string>

#include "base/error.h"
#include "codec/inflate/inflate.h"

namespace stoker {
namespace {

class ZstdCodec final : public Inflater {
 public:
  size_t inflate(Compression, EncodedSpan bytes, std::span<uint8_t> out,
                 Arena& scratch) const override {
    scratch.charge(kMemory);
    const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(),
                                                                       ZSTD_freeDCtx);
    if (!context) throw BudgetError("no memory to decompress zstd");
    const size_t made =
        ZSTD_decompressDCtx(context.get(), out.data(), out.size(), bytes.data(), bytes.size());
    if (!ZSTD_isError(made)) return made;
    if (ZSTD_getErrorCode(made) == ZSTD_error_dstSize_tooSmall) return out.size() + 1;
    throw SampleError("zstd data is damaged: " + std::string(ZSTD_getErrorName(made)));
  }

 private:
  static constexpr size_t kMemory = size_t{256} << 10;  // tables; the window is `out`
};

}  // namespace
}  // namespace stoker

STOKER_INFLATER(stoker::ZstdCodec)
