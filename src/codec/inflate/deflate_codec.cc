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

uint32_t wrapper_of(Compression kind) {
  return kind == Compression::kZlib   ? ISAL_ZLIB
         : kind == Compression::kGzip ? ISAL_GZIP
                                      : ISAL_DEFLATE;
}

[[noreturn]] void fail(Compression kind, int code, size_t at) {
  throw SampleError(std::string(name_of(kind)) + " data is damaged: " + reason(code),
                    static_cast<int64_t>(at));
}

class DeflateStream final : public InflatingStream {
 public:
  DeflateStream(Compression kind, Inflater::More more) : kind_(kind), more_(std::move(more)) {
    begin_member();
  }

  size_t read(std::span<uint8_t> out) override {
    size_t filled = 0;
    while (filled < out.size() && !is_over_) {
      if (damage_ != ISAL_DECOMP_OK) {
        if (filled > 0) break;
        fail(kind_, damage_, at_);
      }
      if (state_.avail_in == 0) refill();
      is_over_ = is_between_ && state_.avail_in == 0;
      if (is_over_) break;
      is_between_ = false;
      const size_t room = std::min<size_t>(out.size() - filled, size_t{1} << 30);
      const uint32_t in = state_.avail_in;
      state_.next_out = out.data() + filled;
      state_.avail_out = static_cast<uint32_t>(room);
      const int code = isal_inflate(&state_);
      const size_t read = in - state_.avail_in, written = room - state_.avail_out;
      at_ += read;
      filled += written;
      if (code != ISAL_DECOMP_OK) damage_ = code;
      else if (state_.block_state == ISAL_BLOCK_FINISH) end_member();
      else if (read == 0 && written == 0 && is_at_end_) damage_ = ISAL_END_INPUT;
    }
    return filled;
  }

 private:
  void begin_member() {
    const uint8_t* next = state_.next_in;
    const uint32_t left = state_.avail_in;
    isal_inflate_init(&state_);
    state_.crc_flag = wrapper_of(kind_);
    state_.next_in = const_cast<uint8_t*>(next);
    state_.avail_in = left;
  }
  // A gzip file may have several members.
  void end_member() {
    if (kind_ != Compression::kGzip) is_over_ = true;
    else begin_member(), is_between_ = true;
  }
  void refill() {
    if (is_at_end_) return;
    const EncodedSpan next = more_();
    is_at_end_ = next.empty();
    state_.next_in = const_cast<uint8_t*>(next.data());
    state_.avail_in = static_cast<uint32_t>(next.size());
  }

  const Compression kind_;
  const Inflater::More more_;
  inflate_state state_{};
  size_t at_ = 0;
  int damage_ = ISAL_DECOMP_OK;
  bool is_over_ = false, is_at_end_ = false, is_between_ = false;
};

class DeflateCodec final : public Inflater {
 public:
  size_t inflate(Compression kind, EncodedSpan bytes, std::span<uint8_t> out,
                 Arena& scratch) const override {
    auto* state = new (scratch.allocate(sizeof(inflate_state))) inflate_state;
    size_t at = 0, filled = 0;
    do {
      isal_inflate_init(state);
      state->crc_flag = wrapper_of(kind);
      if (!inflate_member(kind, *state, bytes, at, out, filled)) return out.size() + 1;
    } while (kind == Compression::kGzip && at < bytes.size());
    return filled;
  }
  std::unique_ptr<InflatingStream> stream(Compression kind, const More& more) const override {
    return std::make_unique<DeflateStream>(kind, more);
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

  static constexpr size_t kMostAtOnce = size_t{1} << 30;
};

}  // namespace
}  // namespace stoker

STOKER_INFLATER(stoker::DeflateCodec)
