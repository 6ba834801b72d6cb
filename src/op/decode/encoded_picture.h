// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// An encoded picture and how a user wants it decoded, for all picture decoders.
#pragma once
#include <array>

#include "codec/device_decoder.h"
#include "op/classes.h"
#include "op/decode/encoded_bytes.h"

namespace stoker {

template <>
struct EnumNames<ImageType> {
  static constexpr const char* kType = "ImageType";
  static constexpr const char* kNames[] = {"RGB", "BGR", "GRAY", "YCbCr", "ANY_DATA", "CLASSES"};
};

struct PictureArguments {
  ImageType output_type = ImageType::kRGB;
  DType dtype = DType::kUint8;
  bool adjust_orientation = true;
  bool use_fast_idct = false;
  bool tolerate_corrupt = false;
  bool verify = false;
  int64_t page = 0;
  bool jpeg_fancy_upsampling = true;
  float hw_decoder_load = 0.65f;
  int64_t hybrid_huffman_threshold = 1'000'000;
};
inline constexpr auto kPictureArguments = std::tuple{
    arg(&PictureArguments::output_type, "output_type",
        "Colours of the output: RGB, BGR, GRAY, YCbCr (BT.601), or ANY_DATA for as many channels "
        "as the file has. CLASSES gives the numbers that a mask holds, in one channel: the indices "
        "of a palette, or gray levels as they are stored. Operators behind it keep them."),
    arg(&PictureArguments::dtype, "dtype",
        "Output dtype: UINT8, INT8, UINT16, INT16, FLOAT or FLOAT16. Values are rescaled so that "
        "full intensity is the largest integer, or 1 for floats. Of CLASSES any integers: nothing "
        "is rescaled, and a number that does not fit fails the sample."),
    arg(&PictureArguments::adjust_orientation, "adjust_orientation",
        "Turn the picture as its EXIF or XMP orientation says."),
    arg(&PictureArguments::use_fast_idct, "use_fast_idct",
        "For JPEG: use a faster and coarser inverse transform."),
    arg(&PictureArguments::tolerate_corrupt, "tolerate_corrupt",
        "Deliver what can be decoded of damaged data instead of failing the sample."),
    arg(&PictureArguments::verify, "verify",
        "Check all of the data for damage, not only what later operators need. Where they need the "
        "last row, the data is always checked to its end."),
    arg(&PictureArguments::page, "page",
        "Which picture of a TIFF file of several pages, from 0 on. Files of other formats have "
        "page 0 alone.",
        at_least(0)),
    arg(&PictureArguments::jpeg_fancy_upsampling, "jpeg_fancy_upsampling",
        "For a GPU's decoder: upsample chroma smoothly, as the CPU always does."),
    arg(&PictureArguments::hw_decoder_load, "hw_decoder_load",
        "For a GPU's decoder: the fraction of the pictures that its JPEG engine decodes, where it "
        "has one. The bytes of a picture decide whether it is one of them.",
        between(0, 1)),
    arg(&PictureArguments::hybrid_huffman_threshold, "hybrid_huffman_threshold",
        "For a GPU's decoder: the GPU reads the Huffman codes of pictures with more pixels than "
        "this, a CPU thread those of others.",
        at_least(0)),
};
inline constexpr std::array kIgnoredPictureArguments = {"affine",
                                                        "device_memory_padding",
                                                        "host_memory_padding",
                                                        "device_memory_padding_jpeg2k",
                                                        "host_memory_padding_jpeg2k",
                                                        "preallocate_width_hint",
                                                        "preallocate_height_hint",
                                                        "split_stages",
                                                        "use_chunk_allocator",
                                                        "memory_stats"};
inline constexpr std::array kIgnoredCacheArguments = {"cache_size", "cache_type", "cache_threshold",
                                                      "cache_batch_copy", "cache_debug"};

inline constexpr Port kEncodedPort = encoded_port("The encoded image: uint8 of shape (size,).");
inline constexpr Port kPicturePort = {.name = "image", .help = "The pixels, layout HWC."};

// The type of a picture when the graph is built, without its extents. Throws WrongCall.
TensorType checked_picture(const PictureArguments& a, const Checker& c);

// What a decoder learns in infer() and keeps for the work: the header, and which part of the
// picture it gives. Requires: the bytes have one dense axis and outlive this.
class EncodedPicture {
 public:
  // Reads the header of input 0. The part is the whole picture. Throws WrongCall and SampleError,
  // also if the picture differs from its annotation: Note [Annotated pictures].
  EncodedPicture(const PictureArguments& a, Inference& i);
  const TensorType& whole() const { return whole_; }
  // Sets the part, which has to lie inside the picture, for decoders that crop.
  void crop(const Window& part) { part_ = part; }
  TensorType type() const { return {whole_.dtype, whole_.layout, part_.shape()}; }
  // Decodes r.outputs[0], a window of the part. Throws SampleError.
  void decode(Run& r) const;
  // What a device has to decode of the part; none if values are rescaled or channels left out.
  std::optional<DecodeRequest> request(const Asking& a) const;

 private:
  Window in_picture(Window of_part) const;
  EncodedImage image_;
  DeviceDecodeOptions device_;
  TensorType whole_;
  Window part_;
};

// What all picture decoders do alike. An operator adds its schema, check() and infer(), which keeps
// an EncodedPicture.
struct PictureDecoder : PictureArguments {
  Classes class_rule() const {
    return output_type == ImageType::kClasses ? Classes::kMade : Classes::kRefused;
  }
  // A JPEG's rows begin with a whole block, of at most 32 pixels.
  static constexpr int64_t kRowRoom = 128;
  // The CPU ignores these.
  static constexpr std::array kOfDevices = {"jpeg_fancy_upsampling", "hw_decoder_load",
                                            "hybrid_huffman_threshold"};

  void run_cpu(Run& r) const { r.kept.get<EncodedPicture>().decode(r); }
  std::optional<DecodeRequest> request(const Asking& a) const {
    return a.kept.get<EncodedPicture>().request(a);
  }
};

}  // namespace stoker
