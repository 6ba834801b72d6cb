// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Codec of JPEG 2000, by libopenjp2 (libopenjp2-7-dev).
// Endings: .jp2 .j2k .j2c .jpc .jpx .jpf
// "\0\0\0\x0CjP  \r\n\x87\n" at byte 0: a JPEG 2000 image
// "\xFF\x4F\xFF\x51" at byte 0: a JPEG 2000 code stream
//
// Code streams, and JP2 files around them. What JP2 says of colours, palettes and alpha is read
// here: the library decodes the components of the code stream, and of a window only what it needs.
#include <openjpeg.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/picture_formats.h"
#include "codec/color.h"
#include "codec/jpeg2000/code_stream.h"
#include "codec/jpeg2000/header.h"
#include "codec/orientation.h"
#include "codec/pixels.h"

namespace stoker::jpeg2000 {
namespace {

// The library's decoder of a code stream that is in memory.
class Decoder {
 public:
  // The 4 bytes at `wrong_length` are read as 0, which stands for all that is left: the library
  // takes as much memory as a length says.
  Decoder(EncodedSpan stream, bool is_strict, size_t wrong_length)
      : bytes_(stream), wrong_length_(wrong_length) {
    if (!codec_ || !stream_) throw_no_memory();
    opj_set_error_handler(codec_.get(), on_error, this);
    opj_dparameters_t parameters;
    opj_set_default_decoder_parameters(&parameters);
    opj_setup_decoder(codec_.get(), &parameters);
    opj_decoder_set_strict_mode(codec_.get(), is_strict);
    opj_codec_set_threads(codec_.get(), 0);
    opj_stream_set_read_function(stream_.get(), read);
    opj_stream_set_skip_function(stream_.get(), skip);
    opj_stream_set_seek_function(stream_.get(), seek);
    opj_stream_set_user_data(stream_.get(), this, nullptr);
    opj_stream_set_user_data_length(stream_.get(), stream.size());
  }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  // Decodes an area of the grid. Null if it is damaged.
  const opj_image_t* decode(int64_t x0, int64_t y0, int64_t x1, int64_t y1) {
    opj_image_t* image = nullptr;
    const bool is_read = opj_read_header(stream_.get(), codec_.get(), &image);
    image_.reset(image);
    if (!is_read) return nullptr;
    const bool is_good =
        opj_set_decode_area(codec_.get(), image, static_cast<int>(x0), static_cast<int>(y0),
                            static_cast<int>(x1), static_cast<int>(y1)) &&
        opj_decode(codec_.get(), stream_.get(), image);
    return is_good ? image : nullptr;
  }
  const std::string& message() const { return message_; }
  size_t at() const { return at_; }

 private:
  template <auto kFree>
  struct By {
    template <class T>
    void operator()(T* p) const {
      kFree(p);
    }
  };
  [[noreturn]] static void throw_no_memory() {
    throw BudgetError("the system has no memory left to decode a JPEG 2000 image");
  }
  static Decoder& self(void* decoder) { return *static_cast<Decoder*>(decoder); }
  static void on_error(const char* message, void* decoder) {
    std::string& all = self(decoder).message_;
    std::string_view line(message);
    while (line.ends_with('\n')) line.remove_suffix(1);
    if (all.empty()) all = line.substr(0, 160);
  }
  static size_t read(void* to, size_t size, void* decoder) {
    Decoder& d = self(decoder);
    const size_t n = std::min(size, d.bytes_.size() - d.at_);
    if (n == 0) return SIZE_MAX;
    std::memcpy(to, d.bytes_.data() + d.at_, n);
    for (size_t at = d.wrong_length_; at < d.wrong_length_ + 4; ++at)
      if (at >= d.at_ && at < d.at_ + n) static_cast<uint8_t*>(to)[at - d.at_] = 0;
    d.at_ += n;
    return n;
  }
  static int64_t skip(int64_t size, void* decoder) {
    Decoder& d = self(decoder);
    if (size < 0) return -1;
    const size_t n = std::min(static_cast<size_t>(size), d.bytes_.size() - d.at_);
    d.at_ += n;
    return static_cast<int64_t>(n);
  }
  static OPJ_BOOL seek(int64_t at, void* decoder) {
    Decoder& d = self(decoder);
    if (at < 0 || static_cast<size_t>(at) > d.bytes_.size()) return OPJ_FALSE;
    d.at_ = static_cast<size_t>(at);
    return OPJ_TRUE;
  }

  EncodedSpan bytes_;
  size_t wrong_length_;
  size_t at_ = 0;
  std::string message_;
  std::unique_ptr<opj_codec_t, By<opj_destroy_codec>> codec_{opj_create_decompress(OPJ_CODEC_J2K)};
  std::unique_ptr<opj_stream_t, By<opj_stream_destroy>> stream_{
      opj_stream_create(kAtOnce, OPJ_TRUE)};
  std::unique_ptr<opj_image_t, By<opj_image_destroy>> image_;
};

// Makes RGB of full-range YCbCr in place, with the rounding of Pillow's conversion.
template <class T>
void make_rgb(T* row, int64_t step, int64_t pixels) {
  constexpr int kMost = std::numeric_limits<T>::max(), kHalf = kMost / 2 + 1;
  const auto scaled = [](double factor, int chroma) {
    const double shifted = factor * 64 * (chroma - kHalf) + 0.5;
    return static_cast<int>(shifted);  // cut off, below 0 as well, as Pillow does
  };
  const auto clamped = [&](int v) { return static_cast<T>(std::clamp(v, 0, kMost)); };
  for (int64_t i = 0; i < pixels; ++i, row += step) {
    const int y = row[0], cb = row[1], cr = row[2];
    row[0] = clamped(y + (scaled(1.402, cr) >> 6));
    row[1] = clamped(y + ((scaled(-0.34414, cb) + scaled(-0.71414, cr)) >> 6));
    row[2] = clamped(y + (scaled(1.772, cb) >> 6));
  }
}

// Makes rows of pixels of the components' samples.
class Rows {
 public:
  Rows(const EncodedImage& image, const Header& h, const View& out, Arena& scratch)
      : h_(h),
        dtype_(h.dtype()),
        out_(image.options.output_type, static_cast<int>(h.channels), dtype_, out, scratch),
        row_(scratch.array<uint16_t>(static_cast<size_t>(out.shape[1]) * h.channels)) {
    if (h.colour == Colour::kCmyk) out_.use_cmyk();
    const int full = dtype_ == DType::kUint8 ? 8 : 16;
    for (size_t c = 0; c < h.channels; ++c) {
      const Component& k = h.component[h.channel[c].component];
      if (h.channel[c].column >= 0) make_table(c, scratch);
      is_plain_ = is_plain_ && h.channel[c].column < 0 && k.dx == 1 && k.bits == full;
    }
  }

  PixelWriter& out() { return out_; }

  // Writes what is wanted of the area that was decoded, which `area` gives on the grid.
  void put(const opj_image_t& image, const View& out, const Window& area) {
    const int64_t x = std::max(out.origin[1], area.begin[1]);
    const int64_t end_x = std::min(out.origin[1] + out.shape[1], area.end[1]);
    const int64_t y = std::max(out.origin[0], area.begin[0]);
    const int64_t end_y = std::min(out.origin[0] + out.shape[0], area.end[0]);
    for (int64_t r = y; r < end_y && x < end_x; ++r) {
      if (dtype_ == DType::kUint8) make(image, reinterpret_cast<uint8_t*>(row_), r, x, end_x - x);
      else make(image, row_, r, x, end_x - x);
      out_.put(r, row_, {x, 1}, end_x - x);
    }
  }

 private:
  // The samples of a component that a row of pixels shows.
  struct Samples {
    const int32_t* data;
    int64_t begin, count;  // the first one's number on the grid
  };
  Samples samples(const opj_image_t& image, size_t component, int64_t row) const {
    const opj_image_comp_t& c = image.comps[component];
    const int64_t y = std::clamp<int64_t>((h_.y0 + row) / c.dy - c.y0, 0, int64_t{c.h} - 1);
    return {c.data + y * c.w, c.x0, c.w};
  }

  template <class T>
  void make(const opj_image_t& image, T* row, int64_t y, int64_t x, int64_t pixels) const {
    if (is_plain_) {
      switch (h_.channels) {
        case 1: interleave<T, 1>(image, row, y, x, pixels); break;
        case 2: interleave<T, 2>(image, row, y, x, pixels); break;
        case 3: interleave<T, 3>(image, row, y, x, pixels); break;
        default: interleave<T, 4>(image, row, y, x, pixels);
      }
    } else {
      for (size_t c = 0; c < h_.channels; ++c) make_channel(c, image, row + c, y, x, pixels);
    }
    if (h_.colour == Colour::kYcc) make_rgb(row, static_cast<int64_t>(h_.channels), pixels);
  }

  // For components whose samples are the pixels' values.
  template <class T, size_t kChannels>
  void interleave(const opj_image_t& image, T* row, int64_t y, int64_t x, int64_t pixels) const {
    std::array<const int32_t*, kChannels> from;
    std::array<int32_t, kChannels> middle;
    for (size_t c = 0; c < kChannels; ++c) {
      const size_t component = h_.channel[c].component;
      const Samples s = samples(image, component, y);
      from[c] = s.data + (h_.x0 + x - s.begin);
      middle[c] = h_.component[component].middle();
    }
    for (int64_t i = 0; i < pixels; ++i, row += kChannels)
      for (size_t c = 0; c < kChannels; ++c) row[c] = static_cast<T>(from[c][i] + middle[c]);
  }

  template <class T>
  void make_channel(size_t c, const opj_image_t& image, T* to, int64_t y, int64_t x,
                    int64_t pixels) const {
    const Channel& channel = h_.channel[c];
    const Component& k = h_.component[channel.component];
    const Samples s = samples(image, channel.component, y);
    const auto step = static_cast<int64_t>(h_.channels);
    const int32_t middle = k.middle(), most = k.most();
    const auto last = static_cast<int32_t>(h_.entries) - 1;
    for (int64_t i = 0; i < pixels; ++i, to += step) {
      const int64_t at = (h_.x0 + x + i) / k.dx - s.begin;
      const int32_t v = s.data[std::clamp<int64_t>(at, 0, s.count - 1)];
      *to = channel.column < 0 ? scaled<T>(std::clamp(v + middle, 0, most), most)
                               : static_cast<T>(tables_[c][std::clamp(v, 0, last)]);
    }
  }
  template <class T>
  static T scaled(int32_t v, int32_t most) {
    return static_cast<T>(rescaled(static_cast<uint32_t>(v), static_cast<uint32_t>(most),
                                   std::numeric_limits<T>::max()));
  }

  // A column of the palette, as the output has it.
  void make_table(size_t c, Arena& scratch) {
    const auto column = static_cast<size_t>(h_.channel[c].column);
    const Component& k = h_.column[column];
    size_t at = 0;
    for (size_t i = 0; i < column; ++i) at += h_.column[i].bits > 8 ? 2 : 1;
    tables_[c] = scratch.array<uint16_t>(h_.entries);
    const int32_t most = k.most(), middle = k.middle();
    for (size_t i = 0; i < h_.entries; ++i, at += h_.entry_size) {
      const int32_t stored = k.bits > 8 ? h_.palette[at] << 8 | h_.palette[at + 1] : h_.palette[at];
      const int32_t v = (stored + middle) & most;
      tables_[c][i] =
          dtype_ == DType::kUint8 ? scaled<uint8_t>(v, most) : scaled<uint16_t>(v, most);
    }
  }

  const Header& h_;
  const DType dtype_;
  bool is_plain_ = true;  // samples are the values of pixels
  PixelWriter out_;
  uint16_t* row_;
  std::array<uint16_t*, kMostChannels> tables_{};
};

class Reader {
 public:
  Reader(const EncodedImage& image, const View& out, Arena& scratch)
      : image_(image),
        h_(header_of<Header>(image)),
        needs_(h_),
        walk_(image.bytes, h_, needs_, scratch),
        out_(out),
        rows_(image, h_, out, scratch) {
    for (size_t c = 0; c < h_.components; ++c) {
      margin_x_ = std::max<int64_t>(margin_x_, h_.component[c].dx - 1);
      margin_y_ = std::max<int64_t>(margin_y_, h_.component[c].dy - 1);
    }
    scratch_ = &scratch;
  }

  void read(const Window& judged) {
    const bool tolerates = image_.options.tolerate_corrupt;
    const bool is_judged = judged.shape().volume() > 0;
    if (is_judged && !tolerates && !walk_.what().empty())
      throw SampleError("JPEG 2000 data is damaged: " + walk_.what(),
                        static_cast<int64_t>(walk_.at()));
    // Where OpenJPEG 2.5.0 tolerates damage, it reads behind its memory if it skips packets.
    Window all = tolerates ? Window::all(out_.full) : out_.covers();
    for (int a = 0; a < 2 && is_judged; ++a) {
      all.begin[a] = std::min(all.begin[a], judged.begin[a]);
      all.end[a] = std::max(all.end[a], judged.end[a]);
    }
    const Window whole = with_margin(all);
    scratch_->charge(needs_.bytes(whole.end[0] - whole.begin[0], whole.end[1] - whole.begin[1]));
    if (tolerates) rows_.out().clear();
    if (decode(all)) return;
    rows_.out().clear();
    // If it fails because of what is not judged, that alone is left out.
    if (!is_judged || tolerates || (!(judged == all) && decode(judged))) return;
    throw SampleError("JPEG 2000 data is damaged: " + message_, static_cast<int64_t>(at_));
  }

 private:
  // Adds the sample before. Where a component has fewer samples, that has a part in the pixel.
  Window with_margin(Window w) const {
    w.begin[0] = std::max<int64_t>(w.begin[0] - margin_y_, 0);
    w.begin[1] = std::max<int64_t>(w.begin[1] - margin_x_, 0);
    return w;
  }

  bool holds(const opj_image_comp_t& got, const Component& k, const Window& w) const {
    const auto first = [](int64_t at, uint32_t step) { return (at + step - 1) / step; };
    return got.data && got.x0 == first(h_.x0 + w.begin[1], k.dx) &&
           got.y0 == first(h_.y0 + w.begin[0], k.dy) &&
           int64_t{got.x0} + got.w == first(h_.x0 + w.end[1], k.dx) &&
           int64_t{got.y0} + got.h == first(h_.y0 + w.end[0], k.dy) && got.w > 0 && got.h > 0;
  }

  bool decode(const Window& wanted) {
    const Window w = with_margin(wanted);
    Decoder decoder(h_.stream.first(walk_.intact_size()), !image_.options.tolerate_corrupt,
                    walk_.wrong_length());
    const opj_image_t* got =
        decoder.decode(h_.x0 + w.begin[1], h_.y0 + w.begin[0], h_.x0 + w.end[1], h_.y0 + w.end[0]);
    message_ = decoder.message().empty() ? "OpenJPEG gives up" : decoder.message();
    at_ = h_.stream_at + decoder.at();
    if (!got || got->numcomps != h_.components) return false;
    for (size_t c = 0; c < h_.components; ++c)
      if (!holds(got->comps[c], h_.component[c], w)) return false;
    rows_.put(*got, out_, wanted);
    return true;
  }

  const EncodedImage& image_;
  const Header& h_;
  Needs needs_;
  const Walk walk_;
  const View& out_;
  Rows rows_;
  Arena* scratch_ = nullptr;
  int64_t margin_x_ = 0, margin_y_ = 0;
  std::string message_;
  size_t at_ = 0;
};

class Jpeg2000Codec final : public StoredCodec {
 public:
  const char* name() const override { return "JPEG 2000"; }
  bool recognises(EncodedSpan b) const override { return begins_as(name(), b); }

  ImageInfo read_info(EncodedSpan bytes, const DecodeOptions&) const override {
    const Header h = read_header(bytes);
    ImageInfo info;
    info.header = h;
    info.stored_height = h.height();
    info.stored_width = h.width();
    info.channels = static_cast<int>(h.channels);
    info.is_ycbcr = h.colour == Colour::kYcc;
    info.dtype = h.dtype();
    return info;
  }

  void read_part(const EncodedImage& image, const StoredPart& part, Arena& scratch) const override {
    Reader(image, part.out, scratch)
        .read(image.options.verify ? Window::all(image.type().shape) : part.judged);
  }
};

}  // namespace
}  // namespace stoker::jpeg2000

STOKER_CODEC(stoker::jpeg2000::Jpeg2000Codec)
