// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// An encoded image and how a user wants it decoded: what the image decoders share. Pure;
// thread-safe.
#pragma once
#include <array>

#include "codec/device_decoder.h"
#include "op/context.h"
#include "op/schema.h"

namespace stoker {

template <>
struct EnumNames<ImageType> {
  static constexpr const char* kType = "ImageType";
  static constexpr const char* kNames[] = {"RGB", "BGR", "GRAY", "YCbCr", "ANY_DATA"};
};

struct PictureArguments {
  ImageType output_type = ImageType::kRGB;
  DType dtype = DType::kUint8;
  bool adjust_orientation = true;
  bool use_fast_idct = false;
  bool tolerate_corrupt = false;
  bool verify = false;
  bool jpeg_fancy_upsampling = true;
  float hw_decoder_load = 0.65f;
  int64_t hybrid_huffman_threshold = 1'000'000;
};
inline constexpr auto kPictureArguments = std::tuple{
    arg(&PictureArguments::output_type, "output_type",
        "Colours of the output: RGB, BGR, GRAY, YCbCr (BT.601), or ANY_DATA for as many channels "
        "as are stored."),
    arg(&PictureArguments::dtype, "dtype",
        "Output dtype: UINT8, INT8, UINT16, INT16, FLOAT or FLOAT16. Values are rescaled so that "
        "full intensity is the largest integer, or 1 for floats."),
    arg(&PictureArguments::adjust_orientation, "adjust_orientation",
        "Turn the picture as its EXIF orientation says."),
    arg(&PictureArguments::use_fast_idct, "use_fast_idct",
        "JPEG: a faster and coarser inverse transform."),
    arg(&PictureArguments::tolerate_corrupt, "tolerate_corrupt",
        "Deliver what can be decoded of damaged data instead of failing the sample."),
    arg(&PictureArguments::verify, "verify",
        "Judge all of the data for damage, not only what the window needs. A window that reaches "
        "the last row is always judged to the end of the data."),
    arg(&PictureArguments::jpeg_fancy_upsampling, "jpeg_fancy_upsampling",
        "A GPU's decoder: upsample chroma smoothly, as the CPU always does."),
    arg(&PictureArguments::hw_decoder_load, "hw_decoder_load",
        "A GPU's decoder: the share of pictures that its JPEG engine decodes, where it has one. "
        "Which ones follows from their bytes.",
        between(0, 1)),
    arg(&PictureArguments::hybrid_huffman_threshold, "hybrid_huffman_threshold",
        "A GPU's decoder: of pictures with more pixels than this the GPU reads the Huffman codes, "
        "of others a CPU thread.",
        at_least(0)),
};
// Change nothing where the CPU decodes.
inline constexpr std::array kDevicePictureArguments = {"jpeg_fancy_upsampling", "hw_decoder_load",
                                                       "hybrid_huffman_threshold"};

// Accepted so that established scripts run.
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

// Run::row_room of the decoders: a JPEG's rows begin with a whole block, of at most 32 pixels.
inline constexpr int64_t kPictureRowRoom = 128;

inline constexpr Port kEncodedPort = {.name = "encoded",
                                      .help = "The encoded image: uint8 of shape (size,).",
                                      .dtypes = "uint8",
                                      .is_value = true};
inline constexpr Port kPicturePort = {.name = "image", .help = "The pixels, layout HWC."};

// What a decoder gives when the graph is built: extents not known yet. Throws GraphError.
TensorType checked_picture(const PictureArguments& a, const Checker& c);

// One encoded image. Requires: the bytes, one dense axis, outlive it.
class EncodedPicture {
 public:
  // Reads the header. Throws SampleError.
  EncodedPicture(const PictureArguments& a, const View& encoded);
  // The whole picture, in the dtype wanted.
  const TensorType& type() const { return type_; }
  // Decodes the window that r.outputs[0] is of the whole picture. Throws SampleError.
  void decode(Run& r) const { decode(r.outputs[0], r); }
  // The same where the output is a window of the part `w` of the picture, as the decoders that crop
  // deliver it.
  void decode_part(const Window& w, Run& r) const;
  // Window `wanted` of the part `w` of the picture, for a device; none where values are rescaled or
  // channels left out.
  std::optional<DecodeRequest> request(const Window& w, const Window& wanted) const;

 private:
  void decode(const View& out, Run& r) const;
  EncodedSpan bytes_;
  DecodeOptions options_;
  const ImageCodec& codec_;
  TensorType decoded_, type_;
};

}  // namespace stoker
