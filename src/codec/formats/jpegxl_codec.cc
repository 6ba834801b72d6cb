// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Codec of JPEG XL, by libjxl (libjxl-dev).
// Endings: .jxl
// "\0\0\0\x0CJXL \r\n\x87\n" at byte 0: a JPEG XL image
// "\xFF\x0A" at byte 0: a JPEG XL code stream
//
// Code streams and files around them, of whole numbers and floats, with and without alpha. Of an
// animation, the first frame. Colours are as the library gives them by default: in the picture's
// own encoding, where it has a name for it.
#include <jxl/decode.h>

#include <algorithm>
#include <memory>
#include <string>

#include "base/error.h"
#include "codec/opened.h"
#include "codec/orientation.h"
#include "codec/pixels.h"

namespace stoker {
namespace {

struct Header {
  JxlBasicInfo info{};

  bool has_alpha() const { return info.alpha_bits > 0; }
  int channels() const { return static_cast<int>(info.num_color_channels) + (has_alpha() ? 1 : 0); }
  DType dtype() const {
    const bool is_wide = info.bits_per_sample > 8 || info.exponent_bits_per_sample > 0;
    return is_wide ? DType::kUint16 : DType::kUint8;
  }
};

class Decoder {
 public:
  explicit Decoder(EncodedSpan file) : file_(file) {
    if (!decoder_) throw BudgetError("the system has no memory left to decode a JPEG XL image");
    JxlDecoderSubscribeEvents(get(), JXL_DEC_BASIC_INFO | JXL_DEC_FULL_IMAGE);
    JxlDecoderSetKeepOrientation(get(), JXL_TRUE);
    JxlDecoderSetUnpremultiplyAlpha(get(), JXL_TRUE);
    JxlDecoderSetInput(get(), file.data(), file.size());
    read_header();
  }

  JxlDecoder* get() const { return decoder_.get(); }
  const Header& header() const { return header_; }

  [[noreturn]] void fail(const char* part, JxlDecoderStatus status) {
    if (status == JXL_DEC_NEED_MORE_INPUT)
      throw SampleError(std::string("JPEG XL ") + part + " ends prematurely",
                        static_cast<int64_t>(file_.size()));
    const size_t left = JxlDecoderReleaseInput(get());
    throw SampleError(std::string("JPEG XL ") + part + " is damaged: libjxl cannot decode it",
                      static_cast<int64_t>(file_.size() - left));
  }

 private:
  void read_header() {
    if (const JxlDecoderStatus status = JxlDecoderProcessInput(get()); status != JXL_DEC_BASIC_INFO)
      fail("header", status);
    JxlDecoderGetBasicInfo(get(), &header_.info);
    for (uint32_t i = 0; i < header_.info.num_extra_channels; ++i) {
      JxlExtraChannelInfo extra;
      JxlDecoderGetExtraChannelInfo(get(), i, &extra);
      if (extra.type == JXL_CHANNEL_BLACK) throw SampleError("JPEG XL of CMYK is not supported");
    }
  }

  EncodedSpan file_;
  Header header_;
  std::unique_ptr<JxlDecoder, decltype(&JxlDecoderDestroy)> decoder_{JxlDecoderCreate(nullptr),
                                                                     JxlDecoderDestroy};
};

// What the library takes by itself: its tables, what it joins of the file, and all samples as
// floats or whole numbers, of which it may need those before a filter and after it.
size_t own_memory(const Header& h, size_t file) {
  const uint64_t pixels = uint64_t{h.info.xsize + 64} * (h.info.ysize + 64);
  const uint64_t samples = 3 + h.info.num_extra_channels;
  return (16 << 20) + file + pixels * samples * 12;
}

class Reader {
 public:
  Reader(const EncodedImage& image, const View& stored, Arena& scratch)
      : image_(image),
        stored_(stored),
        decoder_(
            Opened<Decoder>::take(image, [&] { return std::make_unique<Decoder>(image.bytes); })),
        h_(decoder_->header()),
        out_(image.options.output_type, h_.channels(), h_.dtype(), stored, scratch) {
    scratch.charge(own_memory(h_, image.bytes.size()));
  }

  void read(bool is_judged) {
    const bool tolerates = image_.options.tolerate_corrupt;
    if (tolerates || !is_judged) out_.clear();
    JxlDecoderStatus status = JxlDecoderProcessInput(decoder_->get());
    if (status == JXL_DEC_NEED_IMAGE_OUT_BUFFER) {
      const JxlPixelFormat format = {static_cast<uint32_t>(h_.channels()),
                                     h_.dtype() == DType::kUint8 ? JXL_TYPE_UINT8 : JXL_TYPE_UINT16,
                                     JXL_NATIVE_ENDIAN, 0};
      status = takes_rows() ? JxlDecoderSetImageOutBuffer(decoder_->get(), &format, stored_.data,
                                                          static_cast<size_t>(stored_.bytes()))
                            : JxlDecoderSetImageOutCallback(decoder_->get(), &format, put, &out_);
      if (status == JXL_DEC_SUCCESS) status = JxlDecoderProcessInput(decoder_->get());
    }
    if (status == JXL_DEC_FULL_IMAGE) return;
    if (!tolerates && is_judged) decoder_->fail("data", status);
    if (status == JXL_DEC_NEED_MORE_INPUT) JxlDecoderFlushImage(decoder_->get());
  }

 private:
  // Whether libjxl can write into the output. It cannot for a picture that may be damaged, of which
  // it would leave more there than windows get.
  bool takes_rows() const {
    if (image_.options.tolerate_corrupt) return false;
    const ImageType type = image_.options.output_type;
    const bool is_stored =
        type == ImageType::kAny || (type == ImageType::kRGB && h_.channels() == 3);
    return is_stored && stored_.is_whole() && stored_.is_dense() &&
           stored_.shape[2] == h_.channels();
  }
  static void put(void* out, size_t x, size_t y, size_t pixels, const void* row) {
    auto& writer = *static_cast<PixelWriter*>(out);
    const auto r = static_cast<int64_t>(y);
    if (writer.wants_row(r))
      writer.put(r, row, {static_cast<int64_t>(x), 1}, static_cast<int64_t>(pixels));
  }

  const EncodedImage& image_;
  const View& stored_;
  const std::unique_ptr<Decoder> decoder_;
  const Header& h_;
  PixelWriter out_;
};

class JpegXlCodec final : public StoredCodec {
 public:
  const char* name() const override { return "JPEG XL"; }
  bool recognises(EncodedSpan b) const override {
    const JxlSignature signature = JxlSignatureCheck(b.data(), b.size());
    return signature == JXL_SIG_CODESTREAM || signature == JXL_SIG_CONTAINER;
  }

  ImageInfo read_info(EncodedSpan bytes, const DecodeOptions&) const override {
    auto decoder = std::make_unique<Decoder>(bytes);
    const Header& h = decoder->header();
    ImageInfo info;
    info.stored_height = h.info.ysize;
    info.stored_width = h.info.xsize;
    info.channels = h.channels();
    info.dtype = h.dtype();
    info.orientation = static_cast<int>(h.info.orientation);
    info.header = Opened(std::move(decoder));
    return info;
  }

  void read_part(const EncodedImage& image, const StoredPart& part, Arena& scratch) const override {
    Reader(image, part.out, scratch).read(part.judged_rows > 0);
  }
};

}  // namespace
}  // namespace stoker

STOKER_CODEC(stoker::JpegXlCodec)
