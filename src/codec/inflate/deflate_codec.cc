// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Codec of zlib, gzip and deflate, by libisal (libisal-dev).
#include <isa-l/igzip_lib.h>

#include <string>

#include "base/error.h"
#include "codec/inflate/inflate.h"

namespace stoker {
namespace {

const char* reason(int code) {
  switch (code) {
    case ISAL_END_INPUT: return "it ends too soon";
    case ISAL_INVALID_BLOCK: return "a block is invalid";
    case ISAL_INVALID_SYMBOL: return "a code is invalid";
    case ISAL_INVALID_LOOKBACK: return "it refers to bytes before its beginning";
    case ISAL_INVALID_WRAPPER: return "its header is invalid";
    case ISAL_UNSUPPORTED_METHOD: return "its method is not deflate";
    case ISAL_NEED_DICT: return "it needs a dictionary";
    case ISAL_INCORRECT_CHECKSUM: return "its checksum is wrong";
    default: return "unknown reason";
  }
}

class DeflateCodec final : public Inflater {
 public:
  size_t inflate(Compression kind, EncodedSpan bytes, std::span<uint8_t> out,
                 Arena& scratch) const override {
    auto* state = new (scratch.allocate(sizeof(inflate_state))) inflate_state;
    size_t at = 0, filled = 0;
    // A gzip file may have several members.
    do {
      isal_inflate_init(state);
      state->crc_flag = kind == Compression::kZlib   ? ISAL_ZLIB
                        : kind == Compression::kGzip ? ISAL_GZIP
                                                     : ISAL_DEFLATE;
      if (!inflate_member(kind, *state, bytes, at, out, filled)) return out.size() + 1;
    } while (kind == Compression::kGzip && at < bytes.size());
    return filled;
  }

 private:
  // False where there is more than fits.
  static bool inflate_member(Compression kind, inflate_state& state, EncodedSpan bytes, size_t& at,
                             std::span<uint8_t> out, size_t& filled) {
    uint8_t more = 0;
    for (;;) {
      // The library counts in 32 bits.
      const size_t in_left = std::min(bytes.size() - at, kMostAtOnce);
      const bool is_full = filled == out.size();
      const size_t out_left = is_full ? 1 : std::min(out.size() - filled, kMostAtOnce);
      state.next_in = const_cast<uint8_t*>(bytes.data() + at);
      state.avail_in = static_cast<uint32_t>(in_left);
      state.next_out = is_full ? &more : out.data() + filled;
      state.avail_out = static_cast<uint32_t>(out_left);
      const int code = isal_inflate(&state);
      const size_t read = in_left - state.avail_in, written = out_left - state.avail_out;
      at += read;
      if (is_full && written) return false;
      filled += written;
      if (code != ISAL_DECOMP_OK) fail(kind, code, at);
      if (state.block_state == ISAL_BLOCK_FINISH) return true;
      if (read == 0 && written == 0) fail(kind, ISAL_END_INPUT, at);
    }
  }

  [[noreturn]] static void fail(Compression kind, int code, size_t at) {
    throw SampleError(std::string(name_of(kind)) + " data is damaged: " + reason(code),
                      static_cast<int64_t>(at));
  }

  static constexpr size_t kMostAtOnce = size_t{1} << 30;
};

}  // namespace
}  // namespace stoker

STOKER_INFLATER(stoker::DeflateCodec)
