// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Codec of PNM, by our own code.
// Endings: .pnm .pbm .pgm .ppm .pam
// "P[1-7][ \t-\r#]" at byte 0: a PNM image
//
// PBM, PGM and PPM, as text (P1 to P3) and as bytes (P4 to P6), and PAM (P7).
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/picture_formats.h"
#include "codec/orientation.h"
#include "codec/pixels.h"

namespace stoker {
namespace {

constexpr int64_t kLargest = INT32_MAX;  // width and height

struct Header {
  int kind = 0;  // the digit of P1 to P7
  int64_t width = 0, height = 0, channels = 1, most = 1;
  size_t data_at = 0;

  bool is_bits() const { return kind == 1 || kind == 4; }
  bool is_text() const { return kind <= 3; }
  DType dtype() const { return most > 255 ? DType::kUint16 : DType::kUint8; }
  int64_t row_bytes() const {
    return kind == 4 ? (width + 7) / 8 : width * channels * size_of(dtype());
  }
};

bool is_blank(uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(uint8_t c) { return c >= '0' && c <= '9'; }

// Words and numbers between blanks. A comment reaches from # to the end of its line.
class Words {
 public:
  Words(EncodedSpan file, size_t at) : file_(file), at_(at) {}
  size_t at() const { return at_; }

  void skip_blanks() {
    while (at_ < file_.size() && (is_blank(file_[at_]) || file_[at_] == '#'))
      if (file_[at_++] == '#')
        while (at_ < file_.size() && file_[at_] != '\n' && file_[at_] != '\r') ++at_;
  }
  std::string_view word() {
    skip_blanks();
    const size_t begin = at_;
    while (at_ < file_.size() && !is_blank(file_[at_])) ++at_;
    return {reinterpret_cast<const char*>(file_.data()) + begin, at_ - begin};
  }
  // The next number, of at most 10 digits. Throws SampleError.
  int64_t number() {
    skip_blanks();
    int64_t v = 0;
    const size_t begin = at_;
    for (; at_ < file_.size() && is_digit(file_[at_]) && at_ - begin < 10; ++at_)
      v = 10 * v + (file_[at_] - '0');
    if (at_ == begin) fail("a number");
    return v;
  }
  // The next digit, which needs no blank behind it. Throws SampleError.
  int64_t bit() {
    skip_blanks();
    if (at_ == file_.size() || (file_[at_] != '0' && file_[at_] != '1')) fail("0 or 1");
    return file_[at_++] - '0';
  }

 private:
  [[noreturn]] void fail(const char* expected) const {
    if (at_ >= file_.size())
      throw SampleError("PNM data ends prematurely", static_cast<int64_t>(file_.size()));
    throw SampleError(std::string("PNM data is damaged: expected ") + expected,
                      static_cast<int64_t>(at_));
  }
  EncodedSpan file_;
  size_t at_;
};

void read_pam(Words& words, Header& h) {
  h.width = h.height = h.channels = h.most = 0;
  for (std::string_view key = words.word(); key != "ENDHDR"; key = words.word()) {
    if (key == "WIDTH") h.width = words.number();
    else if (key == "HEIGHT") h.height = words.number();
    else if (key == "DEPTH") h.channels = words.number();
    else if (key == "MAXVAL") h.most = words.number();
    else if (key == "TUPLTYPE") words.word();
    else
      throw SampleError("PNM header is damaged: it has no line ENDHDR",
                        static_cast<int64_t>(words.at()));
  }
}

Header read_header(EncodedSpan file) {
  Header h;
  h.kind = file[1] - '0';
  Words words(file, 2);
  if (h.kind == 7) {
    read_pam(words, h);
  } else {
    h.width = words.number();
    h.height = words.number();
    h.channels = h.kind == 3 || h.kind == 6 ? 3 : 1;
    if (!h.is_bits()) h.most = words.number();
  }
  // One blank ends the header of bytes.
  h.data_at = h.is_text() ? words.at() : std::min(words.at() + 1, file.size());
  if (h.width < 1 || h.height < 1 || h.width > kLargest || h.height > kLargest || h.most < 1 ||
      h.most > 65535 || h.channels < 1 || h.channels > 4)
    throw SampleError("PNM header is damaged: it claims " + std::to_string(h.width) + " x " +
                          std::to_string(h.height) + " pixels of " + std::to_string(h.channels) +
                          " channels with values up to " + std::to_string(h.most),
                      2);
  return h;
}

// Makes rows of samples, and writes them. Full intensity is the largest value of the type, as
// Pillow rounds it; class numbers stay as they are.
class Reader {
 public:
  Reader(const EncodedImage& image, const Header& h, const View& out, Arena& scratch)
      : file_(image.bytes),
        h_(h),
        words_(image.bytes, h.data_at),
        out_(image.options.output_type, static_cast<int>(h.channels), h.dtype(), out, scratch),
        row_(scratch.array<uint16_t>(static_cast<size_t>(h.width * h.channels))),
        scaled_(scratch.array<uint16_t>(static_cast<size_t>(h.most) + 1)) {
    constexpr uint8_t kBits[] = {255, 0}, kNumbers[] = {1, 0};
    if (h.is_bits()) out_.use_palette(kBits, kNumbers);
    const bool scales = image.options.output_type != ImageType::kClasses;
    const double full = !scales ? static_cast<double>(h.most) : h.most > 255 ? 65535 : 255;
    for (int64_t v = 0; v <= h.most; ++v)
      scaled_[v] = static_cast<uint16_t>(
          std::nearbyint(static_cast<double>(v) / static_cast<double>(h.most) * full));
    if (image.options.tolerate_corrupt) out_.clear();
  }

  PixelWriter& out() { return out_; }

  // Throws SampleError where the row is damaged. Requires: rows of text come one after the other.
  void read(int64_t y) {
    if (h_.is_text()) return read_text(y);
    const int64_t begin = static_cast<int64_t>(h_.data_at) + y * h_.row_bytes();
    if (begin + h_.row_bytes() > static_cast<int64_t>(file_.size()))
      throw SampleError("PNM data ends prematurely", static_cast<int64_t>(file_.size()));
    if (out_.wants_row(y)) read_bytes(y, file_.data() + begin);
  }

 private:
  void read_text(int64_t y) {
    for (int64_t i = 0; i < h_.width * h_.channels; ++i) {
      const int64_t v = h_.is_bits() ? words_.bit() : words_.number();
      if (v > h_.most)
        throw SampleError("PNM data is damaged: the value " + std::to_string(v) +
                              " is more than the most, " + std::to_string(h_.most),
                          static_cast<int64_t>(words_.at()));
      row_[i] = static_cast<uint16_t>(v);
    }
    if (out_.wants_row(y)) put(y);
  }

  void read_bytes(int64_t y, const uint8_t* from) {
    if (h_.kind == 4) {
      unpack_bits(from, 1, reinterpret_cast<uint8_t*>(row_), h_.width);
      return out_.put(y, row_);
    }
    if (h_.most == 255) return out_.put(y, from);
    const bool is_wide = h_.dtype() == DType::kUint16;
    for (int64_t i = 0; i < h_.width * h_.channels; ++i) {
      const int64_t v = is_wide ? from[2 * i] << 8 | from[2 * i + 1] : from[i];
      row_[i] = static_cast<uint16_t>(std::min(v, h_.most));
    }
    put(y);
  }

  void put(int64_t y) {
    auto* const bytes = reinterpret_cast<uint8_t*>(row_);
    for (int64_t i = 0; i < h_.width * h_.channels; ++i) {
      const uint16_t v = h_.is_bits() ? row_[i] : scaled_[row_[i]];
      if (h_.dtype() == DType::kUint8) bytes[i] = static_cast<uint8_t>(v);
      else row_[i] = v;
    }
    out_.put(y, row_);
  }

  EncodedSpan file_;
  const Header& h_;
  Words words_;
  PixelWriter out_;
  uint16_t *row_, *scaled_;
};

class PnmCodec final : public StoredCodec {
 public:
  const char* name() const override { return "PNM"; }

  bool recognises(EncodedSpan b) const override { return begins_as(name(), b); }

  ImageInfo read_info(EncodedSpan bytes, const DecodeOptions&) const override {
    const Header h = read_header(bytes);
    ImageInfo info = stored_info(h);
    info.channels = static_cast<int>(h.channels);
    info.holds_numbers = h.channels <= 2;
    info.dtype = h.dtype();
    return info;
  }

  void read_part(const EncodedImage& image, const StoredPart& part, Arena& scratch) const override {
    const auto& h = header_of<Header>(image);
    Reader reader(image, h, part.out, scratch);
    const int64_t end = std::max(part.judged_rows, reader.out().end_row());
    for (int64_t y = 0; y < end; ++y) try {
        reader.read(y);
      } catch (const SampleError&) {
        if (y < part.judged_rows && !image.options.tolerate_corrupt) throw;
        if (h.is_text()) return;
      }
  }
};

}  // namespace
}  // namespace stoker

STOKER_CODEC(stoker::PnmCodec)
