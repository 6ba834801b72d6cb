// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/png/data.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace stoker {
namespace {

// Each call of ISA-L copies 32 kB for itself, so a piece is larger, but small enough for the cache.
constexpr int64_t kPiece = 256 << 10;
constexpr size_t kReadable = 64;  // behind the buffer

const char* words_of(int error) {
  switch (error) {
    case ISAL_INVALID_BLOCK: return "an invalid block";
    case ISAL_INVALID_SYMBOL: return "an invalid code";
    case ISAL_INVALID_LOOKBACK: return "a copy of bytes before the first";
    default: return "a wrong checksum of all data";
  }
}

}  // namespace

PngData::PngData(EncodedSpan file, size_t at, int64_t size, int64_t longest, bool tolerate_corrupt,
                 Arena& scratch)
    : file_(file),
      next_(at),
      checks_(!tolerate_corrupt),
      left_(static_cast<size_t>(size)),
      room_(static_cast<size_t>(std::min(size, longest + kPiece))),
      buffer_(scratch.array<uint8_t>(room_ + kReadable)),
      first_(buffer_),
      last_(buffer_),
      state_(scratch.array<inflate_state>(1)) {
  isal_inflate_init(state_);
  state_->crc_flag = checks_ ? ISAL_ZLIB_NO_HDR_VER : ISAL_ZLIB_NO_HDR;
  state_->avail_in = 0;
}

const uint8_t* PngData::take(int64_t bytes) {
  if (last_ - first_ < bytes) inflate();
  if (last_ - first_ < bytes) return nullptr;
  return std::exchange(first_, first_ + bytes);
}

void PngData::inflate() {
  const size_t kept = static_cast<size_t>(last_ - first_);
  std::memmove(buffer_, first_, kept);
  first_ = buffer_;
  const size_t room = std::min(room_ - kept, left_);
  last_ = inflate_to(buffer_ + kept, room);
  const size_t made = static_cast<size_t>(last_ - buffer_) - kept;
  left_ -= made;
  if (made < room) fail("its data ends before the picture");
}

bool PngData::finish() {
  // What goes on behind the picture is of no use, but harmless.
  uint8_t further[8];
  inflate_to(further, sizeof further);
  return failure_.empty();
}

// Inflates to `to`, until the data ends or fails or there is no room. Returns the end.
uint8_t* PngData::inflate_to(uint8_t* to, size_t room) {
  state_->next_out = to;
  state_->avail_out = static_cast<uint32_t>(room);
  while (failure_.empty()) {
    if (header_bytes_ == kZlibHeader) {
      const int result = isal_inflate(state_);
      if (result < 0) fail(words_of(result));
      if (state_->avail_out == 0 || state_->block_state == ISAL_BLOCK_FINISH) break;
    }
    // ISA-L has used up all of the chunk.
    if (next_chunk()) read_zlib_header();
  }
  return state_->next_out;
}

// The data is that of neighbouring chunks, some of which may be empty.
bool PngData::next_chunk() {
  const std::optional<PngChunk> c = png_chunk_at(file_, next_);
  failed_at_ = std::min(next_, file_.size());
  state_->avail_in = 0;
  if (!c || !c->is_possible || c->type != "IDAT") {
    fail(c ? "its data ends prematurely" : "the file ends prematurely");
    return false;
  }
  if (checks_ && !c->is_whole) {
    failed_at_ = file_.size();
    fail("the file ends prematurely");
    return false;
  }
  if (checks_ && !c->has_right_sum()) {
    fail("the checksum of a chunk of its data is wrong");
    return false;
  }
  state_->next_in = const_cast<uint8_t*>(c->data.data());
  state_->avail_in = static_cast<uint32_t>(c->data.size());
  next_ = c->is_whole ? c->end : file_.size();
  return true;
}

// The two bytes may lie in two chunks.
void PngData::read_zlib_header() {
  for (; header_bytes_ < kZlibHeader && state_->avail_in > 0; --state_->avail_in)
    header_[header_bytes_++] = *state_->next_in++;
  if (header_bytes_ < kZlibHeader) return;
  const bool is_deflate = (header_[0] & 15) == 8, needs_dictionary = (header_[1] & 32) != 0;
  if (!is_deflate || needs_dictionary || number_at<uint16_t>(header_, 0, ByteOrder::kBig) % 31 != 0)
    fail("its data is not that of zlib");
}

void PngData::fail(const std::string& what) {
  if (!failure_.empty()) return;
  failure_ = what;
  if (state_->avail_in > 0) failed_at_ = static_cast<size_t>(state_->next_in - file_.data());
}

void PngData::raise() const {
  throw SampleError("PNG data is damaged: " + failure_, static_cast<int64_t>(failed_at_));
}

}  // namespace stoker
