// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Codec of GIF, by our own code.
// The first frame, on a canvas of the transparent colour or, without one, of the first.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>

#include "base/error.h"
#include "codec/orientation.h"
#include "codec/pixels.h"

namespace stoker {
namespace {

constexpr int kMostBits = 12;  // of a code

[[noreturn]] void fail(const std::string& what, size_t at) {
  throw SampleError("GIF data is damaged: " + what, static_cast<int64_t>(at));
}

struct Header {
  int64_t width = 0, height = 0;  // of the canvas
  int64_t x = 0, y = 0, frame_width = 0, frame_height = 0;
  bool is_interlaced = false;
  int transparent = -1;  // index
  EncodedSpan palette;  // RGB
  int code_bits = 0;
  size_t data_at = 0;  // the first block of data

  size_t colors() const { return palette.size() / 3; }
  // Gray where each index is its own intensity.
  bool is_gray() const {
    for (size_t i = 0; i < palette.size(); ++i)
      if (palette[i] != i / 3) return false;
    return true;
  }
  int channels() const { return (is_gray() ? 1 : 3) + (transparent >= 0); }
  uint8_t background() const { return static_cast<uint8_t>(std::max(transparent, 0)); }
};

// Reads numbers one after the other. Throws SampleError at the end of the file.
class Bytes {
 public:
  Bytes(EncodedSpan file, size_t at) : file_(file), at_(at) {}
  size_t at() const { return at_; }
  EncodedSpan take(size_t size) {
    if (at_ > file_.size() || size > file_.size() - at_) {
      throw SampleError("GIF data ends prematurely", static_cast<int64_t>(file_.size()));
    }
    at_ += size;
    return file_.subspan(at_ - size, size);
  }
  int byte() { return take(1)[0]; }
  int word() {
    const EncodedSpan b = take(2);
    return b[0] | b[1] << 8;
  }
  // The next block of data, empty behind the last.
  EncodedSpan block() { return take(static_cast<size_t>(byte())); }

 private:
  EncodedSpan file_;
  size_t at_;
};

EncodedSpan table(Bytes& bytes, int flags) {
  return flags & 0x80 ? bytes.take(3 * (size_t{2} << (flags & 7))) : EncodedSpan{};
}

void skip_extension(Bytes& bytes, Header& h) {
  const bool is_control = bytes.byte() == 0xF9;
  for (EncodedSpan b = bytes.block(); !b.empty(); b = bytes.block())
    if (is_control && b.size() >= 4) h.transparent = b[0] & 1 ? b[3] : -1;
}

Header read_header(EncodedSpan file) {
  Header h;
  Bytes bytes(file, 6);
  h.width = bytes.word();
  h.height = bytes.word();
  const int flags = bytes.byte();
  bytes.take(2);
  h.palette = table(bytes, flags);
  for (int kind = bytes.byte(); kind != ','; kind = bytes.byte()) {
    if (kind == '!') skip_extension(bytes, h);
    else if (kind == ';') fail("it has no picture", bytes.at() - 1);
    else if (kind != 0) fail("there is no block where one should begin", bytes.at() - 1);
  }
  h.x = bytes.word();
  h.y = bytes.word();
  h.frame_width = bytes.word();
  h.frame_height = bytes.word();
  const int frame_flags = bytes.byte();
  h.is_interlaced = frame_flags & 0x40;
  if (const EncodedSpan own = table(bytes, frame_flags); !own.empty()) h.palette = own;
  h.code_bits = bytes.byte();
  h.data_at = bytes.at();
  h.width = std::max(h.width, h.x + h.frame_width);
  h.height = std::max(h.height, h.y + h.frame_height);
  if (h.frame_width == 0 || h.frame_height == 0) fail("its picture has no pixels", h.data_at);
  if (h.palette.empty()) fail("it has no palette", h.data_at);
  if (h.code_bits < 1 || h.code_bits > 8)
    fail("its codes have " + std::to_string(h.code_bits) + " bits", h.data_at - 1);
  return h;
}

// The bits of the blocks of data.
class Bits {
 public:
  Bits(EncodedSpan file, size_t at) : file_(file), at_(at) {}
  size_t at() const { return at_; }

  int next(int count) {
    if (held_ < count) fill(count);
    const int v = static_cast<int>(bits_ & ((1u << count) - 1));
    bits_ >>= count;
    held_ -= count;
    return v;
  }

 private:
  void fill(int needed) {
    while (held_ <= 56 && (left_ > 0 || next_block())) {
      if (left_ >= 8) {
        uint64_t more;
        std::memcpy(&more, file_.data() + at_, sizeof more);
        const int bytes = (64 - held_) / 8;
        bits_ |= more << held_;
        held_ += 8 * bytes;
        if (held_ < 64) bits_ &= (uint64_t{1} << held_) - 1;
        at_ += static_cast<size_t>(bytes);
        left_ -= static_cast<size_t>(bytes);
      } else {
        bits_ |= uint64_t{file_[at_++]} << held_;
        held_ += 8;
        --left_;
      }
    }
    if (held_ >= needed) return;
    if (at_ >= file_.size())
      throw SampleError("GIF data ends prematurely", static_cast<int64_t>(file_.size()));
    fail("it ends before the picture", at_);
  }

  // False behind the last block, or where the file ends.
  bool next_block() {
    if (at_ >= file_.size() || file_[at_] == 0) return false;
    left_ = std::min<size_t>(file_[at_], file_.size() - at_ - 1);
    ++at_;
    return left_ > 0;
  }

  EncodedSpan file_;
  size_t at_, left_ = 0;  // of the block
  uint64_t bits_ = 0;  // the next one is the lowest
  int held_ = 0;
};

// LZW: a code stands for the string of an earlier code and one more index. That string has been
// written before, so that all one needs to know of a code is where.
class Codes {
 public:
  static constexpr int64_t kBehind = 8;  // bytes that may be overwritten behind the indices

  Codes(EncodedSpan file, const Header& h)
      : bits_(file, h.data_at), clear_(1 << h.code_bits), first_size_(h.code_bits + 1) {
    restart();
  }

  // Fills `indices`, and returns how many there are before the data ends or fails.
  int64_t unpack(uint8_t* indices, int64_t size) {
    int64_t done = 0;
    try {
      while (done < size) {
        const int code = bits_.next(code_size_);
        if (code == clear_) {
          restart();
          continue;
        }
        if (code == clear_ + 1) fail("it ends before the picture", bits_.at());
        done += write(code, indices, done, size - done);
      }
    } catch (const SampleError& e) {
      failure_ = e;
    }
    return std::min(done, size);
  }
  const SampleError& failure() const { return failure_; }

 private:
  struct String {
    uint32_t begin, size;  // among the indices
  };

  void restart() {
    code_size_ = first_size_;
    count_ = clear_ + 2;
    last_.size = 0;
  }

  // Writes the string of the code, as far as there is room, and learns a new one: the last string
  // and the first index of this one.
  int64_t write(int code, uint8_t* indices, int64_t done, int64_t room) {
    const bool is_new = code == count_;
    if (code > count_ || (is_new && last_.size == 0)) fail("a code stands for nothing", bits_.at());
    uint8_t* const to = indices + done;
    String string{static_cast<uint32_t>(done), 1};
    if (code < clear_) {
      *to = static_cast<uint8_t>(code);
    } else {
      const String known = is_new ? last_ : strings_[static_cast<size_t>(code)];
      copy(indices + known.begin, to, std::min<int64_t>(known.size, room));
      string.size = known.size + is_new;
      if (is_new && known.size < room) to[known.size] = to[0];
    }
    if (last_.size > 0 && count_ < 1 << kMostBits) {
      strings_[static_cast<size_t>(count_)] = {last_.begin, last_.size + 1};
      if (++count_ == 1 << code_size_ && code_size_ < kMostBits) ++code_size_;
    }
    last_ = string;
    return string.size;
  }

  static void copy(const uint8_t* from, uint8_t* to, int64_t size) {
    if (to - from < kBehind) {
      for (int64_t i = 0; i < size; ++i) to[i] = from[i];
      return;
    }
    for (int64_t i = 0; i < size; i += kBehind) std::memcpy(to + i, from + i, kBehind);
  }

  Bits bits_;
  const int clear_, first_size_;
  int code_size_ = 0, count_ = 0;
  String last_{0, 0};  // of size 0: there is no code before
  std::array<String, 1 << kMostBits> strings_;
  SampleError failure_{""};
};

// The place of a row among those of the data.
int64_t stored_row(const Header& h, int64_t row) {
  if (!h.is_interlaced) return row;
  constexpr int kBegin[] = {0, 4, 2, 1}, kStep[] = {8, 8, 4, 2};
  int64_t before = 0;
  for (int i = 0; i < 4; ++i) {
    if (row % kStep[i] == kBegin[i]) return before + row / kStep[i];
    before += (h.frame_height - kBegin[i] + kStep[i] - 1) / kStep[i];
  }
  return before;
}

class Reader {
 public:
  Reader(const EncodedImage& image, const Header& h, const View& out, Arena& scratch)
      : image_(image),
        h_(h),
        keeps_alpha_(image.options.output_type == ImageType::kAny && h.transparent >= 0),
        out_(image.options.output_type, (h.is_gray() ? 1 : 3) + keeps_alpha_, DType::kUint8, out,
             scratch),
        row_(scratch.array<uint8_t>(static_cast<size_t>(h.width))),
        indices_(scratch.array<uint8_t>(
            static_cast<size_t>(h.frame_width * h.frame_height + Codes::kBehind))) {
    use_palette();
    std::memset(row_, h.background(), static_cast<size_t>(h.width));
  }

  void read(int64_t judged_rows) {
    // Rows that are interlaced need those of the passes before theirs.
    const int64_t judged = rows_of_data(judged_rows), wanted = rows_of_data(out_.end_row());
    Codes codes(image_.bytes, h_);
    const int64_t rows =
        codes.unpack(indices_, std::max(judged, wanted) * h_.frame_width) / h_.frame_width;
    const bool tolerates = image_.options.tolerate_corrupt;
    if (rows < judged && !tolerates) throw codes.failure();
    for (int64_t y = 0; y < h_.height; ++y)
      if (out_.wants_row(y)) put(y, rows);
  }

 private:
  // How many rows of the data the first rows of the picture need.
  int64_t rows_of_data(int64_t rows) const {
    int64_t needed = 0;
    for (int64_t y = 0; y < std::min(rows - h_.y, h_.frame_height); ++y)
      needed = std::max(needed, stored_row(h_, y) + 1);
    return needed;
  }

  // Rows that are not there look like the canvas.
  void put(int64_t y, int64_t rows) {
    const bool is_in_frame = y >= h_.y && y < h_.y + h_.frame_height;
    const int64_t stored = is_in_frame ? stored_row(h_, y - h_.y) : rows;
    if (stored < rows)
      std::memcpy(row_ + h_.x, indices_ + stored * h_.frame_width,
                  static_cast<size_t>(h_.frame_width));
    else std::memset(row_, h_.background(), static_cast<size_t>(h_.width));
    out_.put(y, row_);
  }

  void use_palette() {
    std::array<uint8_t, 256 * 4> entries;
    size_t size = 0;
    for (size_t i = 0; i < h_.colors(); ++i) {
      for (size_t c = 0; c < (h_.is_gray() ? 1u : 3u); ++c) entries[size++] = h_.palette[3 * i + c];
      if (keeps_alpha_) entries[size++] = static_cast<int>(i) == h_.transparent ? 0 : 255;
    }
    out_.use_palette({entries.data(), size});
  }

  const EncodedImage& image_;
  const Header& h_;
  const bool keeps_alpha_;
  PixelWriter out_;
  uint8_t *row_, *indices_;
};

class GifCodec final : public ImageCodec {
 public:
  const char* name() const override { return "GIF"; }
  bool recognises(EncodedSpan b) const override {
    const std::string_view begin(reinterpret_cast<const char*>(b.data()),
                                 std::min<size_t>(b.size(), 6));
    return begin == "GIF87a" || begin == "GIF89a";
  }

  ImageInfo peek(EncodedSpan bytes, const DecodeOptions& options) const override {
    const Header h = read_header(bytes);
    ImageInfo info;
    info.format = name();
    info.header = h;
    info.stored_height = h.height;
    info.stored_width = h.width;
    info.channels = h.channels();
    set_displayed(info, options);
    return info;
  }

  void decode(const EncodedImage& image, const View& out, const Window& judged, Arena& scratch,
              int64_t) const override {
    const StoredPart part(image, out, judged);
    if (part.is_empty()) return;
    const auto& h = header_of<Header>(image);
    Reader(image, h, part.out, scratch).read(part.judged_rows);
  }
};

}  // namespace
}  // namespace stoker

STOKER_CODEC(stoker::GifCodec)
