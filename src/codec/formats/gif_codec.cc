// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Codec of GIF, by our own code.
// Endings: .gif
// "GIF87a", "GIF89a" at byte 0: a GIF image
//
// The first frame, on a canvas of the transparent colour or, without one, of the first.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "base/error.h"
#include "base/foreign_bytes.h"
#include "base/picture_formats.h"
#include "codec/orientation.h"
#include "codec/pixels.h"

namespace stoker {
namespace {

constexpr int kMostBits = 12;  // of a code

// A file has no byte order but little-endian:
//
//   "GIF89a" width:2 height:2 flags:1 ...:2 | palette | blocks, up to ";"
//   block:    "!" kind:1 | data                              an extension
//             "," x:2 y:2 width:2 height:2 flags:1 | palette | bits:1 | data      a picture
//   data:     n:1, n bytes | n:1, n bytes | ... | 0
constexpr ForeignBytes::Words kWords = {"GIF data is damaged", "GIF data ends prematurely"};

ForeignBytes bytes_from(EncodedSpan file, size_t at) {
  return ForeignBytes(file, ByteOrder::kLittle, kWords).from(at);
}
[[noreturn]] void fail(const std::string& what, size_t at) {
  ForeignBytes({}, ByteOrder::kLittle, kWords).fail(what, at);
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

EncodedSpan take_palette(ForeignBytes& bytes, int flags) {
  return flags & 0x80 ? bytes.bytes(3 * (size_t{2} << (flags & 7))) : EncodedSpan{};
}

// The next block of data, empty behind the last.
EncodedSpan take_block(ForeignBytes& bytes) { return bytes.bytes(bytes.u8()); }

void take_extension(ForeignBytes& bytes, Header& h) {
  const bool is_control = bytes.u8() == 0xF9;
  for (EncodedSpan b = take_block(bytes); !b.empty(); b = take_block(bytes))
    if (is_control && b.size() >= 4) h.transparent = b[0] & 1 ? b[3] : -1;
}

Header read_header(EncodedSpan file) {
  Header h;
  ForeignBytes bytes = bytes_from(file, 6);
  h.width = bytes.u16();
  h.height = bytes.u16();
  const int flags = bytes.u8();
  bytes.skip(2);
  h.palette = take_palette(bytes, flags);
  for (int kind = bytes.u8(); kind != ','; kind = bytes.u8()) {
    if (kind == '!') take_extension(bytes, h);
    else if (kind == ';') fail("it has no picture", bytes.at() - 1);
    else if (kind != 0) fail("there is no block where one should begin", bytes.at() - 1);
  }
  h.x = bytes.u16();
  h.y = bytes.u16();
  h.frame_width = bytes.u16();
  h.frame_height = bytes.u16();
  const int frame_flags = bytes.u8();
  h.is_interlaced = frame_flags & 0x40;
  if (const EncodedSpan own = take_palette(bytes, frame_flags); !own.empty()) h.palette = own;
  h.code_bits = bytes.u8();
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
    bytes_from(file_, at_).skip(1);  // refuses the end of the file
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

// LZW: a code stands for the string of an earlier code and one more index. That string was written
// before, so its place is all that is kept of it.
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

  // Writes the code's string as far as there is room, and learns the last one plus its first index.
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

class GifCodec final : public StoredCodec {
 public:
  const char* name() const override { return "GIF"; }
  bool recognises(EncodedSpan b) const override { return begins_as(name(), b); }

  ImageInfo read_info(EncodedSpan bytes, const DecodeOptions&) const override {
    const Header h = read_header(bytes);
    ImageInfo info = stored_info(h);
    info.channels = h.channels();
    info.holds_numbers = true;
    return info;
  }

  void read_part(const EncodedImage& image, const StoredPart& part, Arena& scratch) const override {
    const auto& h = header_of<Header>(image);
    Reader(image, h, part.out, scratch).read(part.judged_rows);
  }
};

}  // namespace
}  // namespace stoker

STOKER_CODEC(stoker::GifCodec)
