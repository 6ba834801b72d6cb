// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Codec of HEIF, by libheif (libheif-dev), which is opened at run time (libheif1).
// Endings: .heic .heif .hif
// "ftypheic", "ftypheix", "ftypheim", "ftypheis", "ftyphevc" at byte 4: a HEIF image
// "ftypmif1", "ftypmsf1" at byte 4: a HEIF image
//
// The primary picture of HEIC files and of others that the library can decode, with and without
// alpha, as RGB. It is always cropped and turned as its properties say: EXIF has no say in HEIF.
#include <dlfcn.h>
#include <libheif/heif.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "codec/boxes.h"
#include "codec/color.h"
#include "codec/opened.h"
#include "codec/orientation.h"
#include "codec/pixels.h"

namespace stoker {
namespace {

constexpr const char* kVariable = "STOKER_LIBHEIF";  // where else the library is; "": nowhere

#define STOKER_HEIF_FUNCTIONS(F)                \
  F(heif_init)                                  \
  F(heif_context_alloc)                         \
  F(heif_context_free)                          \
  F(heif_context_set_maximum_image_size_limit)  \
  F(heif_context_set_max_decoding_threads)      \
  F(heif_context_read_from_memory_without_copy) \
  F(heif_context_get_primary_image_handle)      \
  F(heif_image_handle_release)                  \
  F(heif_image_handle_get_width)                \
  F(heif_image_handle_get_height)               \
  F(heif_image_handle_get_ispe_width)           \
  F(heif_image_handle_get_ispe_height)          \
  F(heif_image_handle_has_alpha_channel)        \
  F(heif_image_handle_is_premultiplied_alpha)   \
  F(heif_image_handle_get_luma_bits_per_pixel)  \
  F(heif_decoding_options_alloc)                \
  F(heif_decoding_options_free)                 \
  F(heif_decode_image)                          \
  F(heif_image_release)                         \
  F(heif_image_get_width)                       \
  F(heif_image_get_height)                      \
  F(heif_image_get_bits_per_pixel_range)        \
  F(heif_image_get_plane_readonly)

// The library's functions. It stays open for ever, and is never linked: Debian's libheif brings an
// encoder under the GPL along.
struct Library {
#define STOKER_HEIF_MEMBER(name) decltype(&::name) name = nullptr;
  STOKER_HEIF_FUNCTIONS(STOKER_HEIF_MEMBER)
#undef STOKER_HEIF_MEMBER
  bool is_open = false;

  Library() {
    const char* place = std::getenv(kVariable);
    if (place && !*place) return;
    void* const library = dlopen(place ? place : "libheif.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    is_open = true;
#define STOKER_HEIF_FIND(name)                                       \
  name = reinterpret_cast<decltype(&::name)>(dlsym(library, #name)); \
  is_open = is_open && name;
    STOKER_HEIF_FUNCTIONS(STOKER_HEIF_FIND)
#undef STOKER_HEIF_FIND
    if (is_open) heif_init(nullptr);
  }
};
#undef STOKER_HEIF_FUNCTIONS

const Library& library() {
  static const Library opened;
  return opened;
}

// Whether a box of the file ends behind it.
bool is_cut(EncodedSpan file) {
  Boxes boxes(ForeignBytes(file, ByteOrder::kBig));
  for (Box box; boxes.next(box);)
    if (!box.is_whole) return true;
  return boxes.ends_in_head();
}

template <auto kMember>
struct Release {
  template <class T>
  void operator()(T* p) const {
    (library().*kMember)(p);
  }
};

class Decoder {
 public:
  Decoder(EncodedSpan file, bool is_strict) : file_(file), is_strict_(is_strict) {
    const Library& l = library();
    if (!context_) throw BudgetError("the system has no memory left to decode a HEIF image");
    l.heif_context_set_max_decoding_threads(context_.get(), 0);
    check(l.heif_context_read_from_memory_without_copy(context_.get(), file_.data(), file_.size(),
                                                       nullptr),
          "header");
    heif_image_handle* handle = nullptr;
    check(l.heif_context_get_primary_image_handle(context_.get(), &handle), "header");
    handle_.reset(handle);
    const int bits = l.heif_image_handle_get_luma_bits_per_pixel(handle);
    if (width() < 1 || height() < 1 || bits < 1 || bits > 16)
      throw SampleError("HEIF header is damaged: it claims " + std::to_string(width()) + " x " +
                        std::to_string(height()) + " pixels of " + std::to_string(bits) + " bits");
    // A grid may be no larger than it says, but HEVC codes whole blocks.
    constexpr int kBlock = 64;
    l.heif_context_set_maximum_image_size_limit(
        context_.get(), kBlock + std::max(l.heif_image_handle_get_ispe_width(handle),
                                          l.heif_image_handle_get_ispe_height(handle)));
    dtype_ = bits > 8 ? DType::kUint16 : DType::kUint8;
  }

  int width() const { return library().heif_image_handle_get_width(handle_.get()); }
  int height() const { return library().heif_image_handle_get_height(handle_.get()); }
  // Before it is cropped and turned.
  int64_t stored_pixels() const {
    return int64_t{library().heif_image_handle_get_ispe_width(handle_.get())} *
           library().heif_image_handle_get_ispe_height(handle_.get());
  }
  bool has_alpha() const {
    return library().heif_image_handle_has_alpha_channel(handle_.get()) != 0;
  }
  bool is_premultiplied() const {
    return has_alpha() && library().heif_image_handle_is_premultiplied_alpha(handle_.get());
  }
  int channels() const { return has_alpha() ? 4 : 3; }
  DType dtype() const { return dtype_; }

  struct Pixels {
    const uint8_t* data;
    int64_t stride;
    uint32_t most;  // the largest value
  };
  // Of the whole picture. Valid as long as this.
  Pixels decode() {
    const Library& l = library();
    const std::unique_ptr<heif_decoding_options, Release<&Library::heif_decoding_options_free>>
        options(l.heif_decoding_options_alloc());
    if (!options) throw BudgetError("the system has no memory left to decode a HEIF image");
    if (options->version >= 3) options->strict_decoding = is_strict_;
    const bool is_wide = dtype_ == DType::kUint16;
    const heif_chroma rgb =
        is_wide ? heif_chroma_interleaved_RRGGBB_LE : heif_chroma_interleaved_RGB;
    const heif_chroma rgba =
        is_wide ? heif_chroma_interleaved_RRGGBBAA_LE : heif_chroma_interleaved_RGBA;
    heif_image* image = nullptr;
    check(l.heif_decode_image(handle_.get(), &image, heif_colorspace_RGB, has_alpha() ? rgba : rgb,
                              options.get()),
          "data");
    image_.reset(image);
    Pixels p;
    int stride = 0;
    p.data = l.heif_image_get_plane_readonly(image, heif_channel_interleaved, &stride);
    p.stride = stride;
    const int bits = l.heif_image_get_bits_per_pixel_range(image, heif_channel_interleaved);
    p.most = (1u << bits) - 1;
    if (!p.data || l.heif_image_get_width(image, heif_channel_interleaved) != width() ||
        l.heif_image_get_height(image, heif_channel_interleaved) != height() ||
        (is_wide ? bits < 9 || bits > 16 : bits != 8))
      throw SampleError("HEIF data is damaged: it is not what the header says");
    return p;
  }

 private:
  void check(const heif_error& error, const char* part) const {
    if (error.code == heif_error_Ok) return;
    if (error.code == heif_error_Memory_allocation_error &&
        error.subcode != heif_suberror_Security_limit_exceeded)
      throw BudgetError("the system has no memory left to decode a HEIF image");
    if (is_cut(file_))
      throw SampleError("HEIF data ends prematurely", static_cast<int64_t>(file_.size()));
    throw SampleError(std::string("HEIF ") + part + " is damaged: " + error.message);
  }

  EncodedSpan file_;
  bool is_strict_;
  DType dtype_ = DType::kUint8;
  std::unique_ptr<heif_context, Release<&Library::heif_context_free>> context_{
      library().heif_context_alloc()};
  std::unique_ptr<heif_image_handle, Release<&Library::heif_image_handle_release>> handle_;
  std::unique_ptr<heif_image, Release<&Library::heif_image_release>> image_;
};

std::unique_ptr<Decoder> open(EncodedSpan file, const DecodeOptions& options) {
  return std::make_unique<Decoder>(file, !options.tolerate_corrupt);
}

// What the library takes itself: pictures as YUV and RGB, before and after they are turned.
size_t own_memory(const Decoder& d) {
  const auto pixels = static_cast<uint64_t>(std::max(d.stored_pixels(), int64_t{0}));
  return (4 << 20) + pixels * 10 * (d.dtype() == DType::kUint16 ? 2 : 1);
}

// Divides the colours by alpha, with the rounding of Pillow's conversion.
template <class T>
void divide(T* row, int64_t pixels, uint32_t most) {
  for (int64_t i = 0; i < pixels; ++i, row += 4) {
    const uint32_t alpha = row[3];
    if (alpha == 0 || alpha == most) continue;
    for (int c = 0; c < 3; ++c) row[c] = static_cast<T>(std::min(row[c] * most / alpha, most));
  }
}

class Reader {
 public:
  Reader(const EncodedImage& image, const View& out, Arena& scratch)
      : image_(image),
        opened_(Opened<Decoder>::take(image, [&] { return open(image.bytes, image.options); })),
        decoder_(*opened_),
        scratch_(scratch),
        out_(image.options.output_type, decoder_.channels(), decoder_.dtype(), out, scratch) {
    scratch.charge(own_memory(decoder_));
  }

  void read(bool is_judged) {
    decode_whole(image_, is_judged, out_, [&] { decode(); });
  }

 private:
  void decode() {
    const Decoder::Pixels pixels = decoder_.decode();
    if (decoder_.dtype() == DType::kUint8) put<uint8_t>(pixels);
    else put<uint16_t>(pixels);
  }

  template <class T>
  void put(const Decoder::Pixels& p) {
    constexpr uint32_t kFull = std::numeric_limits<T>::max();
    const bool is_premultiplied = decoder_.is_premultiplied();
    const bool is_changed = is_premultiplied || p.most != kFull;
    const int64_t count = int64_t{decoder_.width()} * decoder_.channels();
    T* const line = scratch_.array<T>(static_cast<size_t>(count));
    for (int64_t y = out_.begin_row(); y < out_.end_row(); ++y) {
      const auto* row = reinterpret_cast<const T*>(p.data + y * p.stride);
      if (!is_changed) {
        out_.put(y, row);
        continue;
      }
      std::copy(row, row + count, line);
      if (is_premultiplied) divide(line, decoder_.width(), p.most);
      for (int64_t i = 0; p.most != kFull && i < count; ++i)
        line[i] = static_cast<T>(rescaled(line[i], p.most, kFull));
      out_.put(y, line);
    }
  }

  const EncodedImage& image_;
  const std::unique_ptr<Decoder> opened_;
  Decoder& decoder_;
  Arena& scratch_;
  PixelWriter out_;
};

// Whether the file's first box names a kind of picture, and none of AVIF. It is always a short one:
//
//   size:4 "ftyp" | brand:4 version:4 brands, of 4 bytes each
bool has_brand(EncodedSpan file) {
  if (file.size() < 16) return false;
  ForeignBytes b(file, ByteOrder::kBig);
  const uint32_t size = b.u32();
  if (b.text(4) != "ftyp") return false;
  ForeignBytes brands = b.part(std::max<uint32_t>(size, 8) - 8);
  bool is_heif = false;
  for (int i = 0; brands.has(4); ++i) {
    const std::string_view brand = brands.text(4);
    if (i == 1) continue;  // the version
    if (brand == "avif" || brand == "avis") return false;
    for (const std::string_view known :
         {"heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1"})
      is_heif = is_heif || brand == known;
  }
  return is_heif;
}

class HeifCodec final : public StoredCodec {
 public:
  const char* name() const override { return "HEIF"; }
  bool is_there() const override { return library().is_open; }
  bool recognises(EncodedSpan b) const override { return has_brand(b); }

  ImageInfo read_info(EncodedSpan bytes, const DecodeOptions& options) const override {
    std::unique_ptr<Decoder> opened = open(bytes, options);
    const Decoder& d = *opened;
    ImageInfo info;
    info.stored_height = d.height();
    info.stored_width = d.width();
    info.channels = d.channels();
    info.dtype = d.dtype();
    info.header = Opened(std::move(opened));
    return info;
  }

  void read_part(const EncodedImage& image, const StoredPart& part, Arena& scratch) const override {
    Reader(image, part.out, scratch).read(part.judged_rows > 0);
  }
};

}  // namespace
}  // namespace stoker

STOKER_CODEC(stoker::HeifCodec)
