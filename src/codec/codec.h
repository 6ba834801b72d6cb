// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Encoded images become pixels. This is what every image format offers, and how the format of some
// bytes is found. CONTRIBUTING.md says what a new format needs.
#pragma once
#include <any>
#include <cstdint>
#include <span>

#include "base/types.h"
#include "base/view.h"
#include "memory/arena.h"

namespace stoker {

using EncodedSpan = std::span<const uint8_t>;

// What decode() delivers. kYCbCr is ITU-R BT.601 (16..235, 16..240), made from RGB. kAny keeps the
// stored channels: 1 for gray, 3 (RGB) for colour, even where the file holds YCbCr or a palette, 4
// for CMYK (0 = no ink). Alpha is one more channel, never multiplied into the others; all other
// types drop it. kClasses gives the stored number of each pixel: see Note [Stored numbers].
enum class ImageType : uint8_t { kRGB, kBGR, kGray, kYCbCr, kAny, kClasses };

// Note [Stored numbers]
// The pixels of a mask are numbers of classes, and a picture is only how they are kept. kClasses
// gives these numbers: the index where there is a palette, whatever its colours, and else the gray
// level, never scaled to full intensity. Where a format counts from white (PBM, some TIFF), black
// is 0, as it is for all other readers. Pictures that hold no such numbers are refused: colours,
// floats, and all that is compressed with loss. A codec says by ImageInfo::holds_numbers that it
// can give them.

// The channels of such a picture; -1 for kAny.
int64_t fixed_channels(ImageType type);

struct DecodeOptions {
  ImageType output_type = ImageType::kRGB;
  bool adjust_orientation = true;  // turn the picture as its EXIF orientation says
  // Delivers what can be decoded of damaged data. Damaged headers are errors even then.
  bool tolerate_corrupt = false;
  bool verify = false;  // judges all of the data, whatever the judged window is
  int64_t page = 0;  // of a file of several pictures
  // A picture that claims more pixels is refused before any memory is reserved for it.
  int64_t max_pixels = int64_t{1} << 28;
};

class EntropyIndexes;  // codec/plain_jpeg/entropy_indexes.h

// What JPEG heeds besides.
struct JpegOptions {
  bool use_fast_idct = false;  // a faster, coarser inverse transform, with other pixels
  // Where to look for what is known of the file, and to leave what was found out. No pixel depends
  // on it. None where it is null. It outlives decode().
  EntropyIndexes* indexes = nullptr;
};

struct ImageInfo {
  const char* format = "";  // the codec's name
  int64_t height = 0, width = 0;  // as decode() delivers them
  int64_t stored_height = 0, stored_width = 0;  // before the orientation is applied
  int channels = 0;  // as stored
  bool is_ycbcr = false;  // as stored
  bool is_progressive = false;  // the data passes over the picture more than once
  bool is_lossless = false;  // of JPEG: its lossless process, which no device decodes
  int orientation = 1;  // 1..8 as in EXIF, even if it is not applied
  bool holds_numbers = false;  // decode() can give kClasses
  DType dtype = DType::kUint8;  // what decode() delivers
  std::any header;  // what else decode() needs of the header, of a type of the codec's own
};

class ImageCodec;

// An image whose header was read, and how it is wanted.
struct EncodedImage {
  const ImageCodec* codec = nullptr;
  EncodedSpan bytes;  // outlive this
  DecodeOptions options;
  ImageInfo info;
  JpegOptions jpeg;

  // Of the whole picture as decode() delivers it, with layout HWC.
  TensorType type() const;
};

// Note [Judged windows]
// Whether damage fails a picture depends on the file and on the judged window alone: the window
// that the operators behind the decoder need. It does not depend on how much is made, because the
// same sample has to be good or bad under every executor and rewrite. A codec judges what precedes
// the last stored row of the judged window (stored: before the orientation is applied), in every
// scan of the file, and the data to its end if that is the last row of the picture. Behind it,
// damage is tolerated. An empty window judges the header alone, DecodeOptions::verify everything.
// Formats whose data does not follow the rows are judged as they are decoded: JPEG 2000 by what the
// judged window needs of it and by where its tiles lie, AVIF, HEIF and JPEG XL as a whole.

// One image format, in one file <format>_codec.cc of a room here, which ends in STOKER_CODEC. The
// build finds it. Without state; thread-safe.
class ImageCodec {
 public:
  virtual ~ImageCodec() = default;
  virtual const char* name() const = 0;
  // False where a library that is opened at run time was not found: only recognises() works then.
  virtual bool is_there() const { return true; }
  // Decides by the first bytes only.
  virtual bool recognises(EncodedSpan bytes) const = 0;
  // Whether it heeds DecodeOptions::page; of other formats there is no page but the first.
  virtual bool has_pages() const { return false; }
  // Reads the header; the bytes may end behind it. Throws SampleError where the picture cannot be
  // decoded: damaged, of a kind that is not supported, larger than max_pixels.
  virtual ImageInfo peek(EncodedSpan bytes, const DecodeOptions& options) const = 0;
  // Fills `out`, a window of the picture in displayed coordinates with any strides, with exactly
  // the pixels that decoding the whole picture would give. Throws SampleError with the approximate
  // byte offset of the damage, as Note [Judged windows] says; then `out` holds anything. Where it
  // tolerates damage, `out` holds anything outside `judged`. All memory that grows with the picture
  // comes from `scratch`, or is charged to it before it is taken: what a library takes by itself
  // follows from the header alone. Throws what `scratch` throws. Requires:
  // image.info is what peek() said; out.full and out.dtype are those of image.type(); `row_room`
  // bytes before and behind each row of `out` may be overwritten.
  virtual void decode(const EncodedImage& image, const View& out, const Window& judged,
                      Arena& scratch, int64_t row_room = 0) const = 0;
};

// Chooses the codec by content, never by name, and reads the header. Throws SampleError, which says
// what the bytes are and what is supported if there is no codec.
EncodedImage peek(EncodedSpan bytes, const DecodeOptions& options);

// A format that this version knows, built or not. Codec: ImageCodec, or the class of other codecs.
template <class Codec>
struct Known {
  const char* format;  // "JPEG"
  // Of Debian, whose library it needs: to be built or, if it was, to run. "" if it needs none.
  const char* package;
  const Codec* (*built)();  // null: the library was missing when this was built

  // Null if it is not there.
  const Codec* codec() const {
    if (!built) return nullptr;
    if constexpr (requires(const Codec& c) { c.is_there(); })
      if (!built()->is_there()) return nullptr;
    return built();
  }
};
// In the order in which they are asked. cmake/codecs.cmake writes what these return.
template <class Codec>
std::span<const Known<Codec>> known_codecs();
template <>
std::span<const Known<ImageCodec>> known_codecs<ImageCodec>();

// For codecs: what peek() has put into ImageInfo::header.
template <class Header>
const Header& header_of(const EncodedImage& image) {
  return std::any_cast<const Header&>(image.info.header);
}
// For codecs: refuses a picture with more pixels than options.max_pixels.
void check_pixels(const ImageInfo& info, const DecodeOptions& options);
// For codecs: refuses a window that does not lie inside the picture.
void check_window(const EncodedImage& image, const View& out);

// For tests: this codec is asked before all others from now on; null: none is. Thread-safe.
void use_codec(const ImageCodec* codec);

}  // namespace stoker

// The build gives every file of a codec a symbol made of its name, and the generated table calls
// them all (cmake/codecs.cmake).
#define STOKER_CODEC(Codec) STOKER_CODEC_OF(stoker::ImageCodec, Codec)
#define STOKER_CODEC_OF(Kind, Codec)  \
  const Kind* STOKER_CODEC_SYMBOL() { \
    static const Codec codec;         \
    return &codec;                    \
  }
